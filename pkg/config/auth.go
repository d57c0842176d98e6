package config

import "github.com/runhook/runhook/pkg/secret"

// Auth says who may call. Without it every call is refused.
type Auth struct {
	Tokens          []Token          `json:"tokens"`
	ServiceAccounts []ServiceAccount `json:"serviceAccounts"`
}

// Token is a caller with a bearer token.
type Token struct {
	Name string `json:"name"`
	secret.Ref
	Rights

	// Value is the token itself.
	Value secret.Value `json:"-"`
}

// ServiceAccount is a caller with a token of Kubernetes for the audience runhook.
type ServiceAccount struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Rights
}

// Rights are what a caller may do; nothing by default.
type Rights struct {
	Functions []string `json:"functions"`
	// Hooks are those whose routes push and alert may use.
	Hooks []string `json:"hooks"`
	// Queues are LocalQueues; "" is a run without a queue.
	Queues     []string `json:"queues"`
	Priorities []string `json:"priorities"`
	// Repositories are image repositories, by whole path segments.
	Repositories []string `json:"repositories"`
	Secrets      []string `json:"secrets"`
	Claims       []string `json:"claims"`
	// Runs is own (the default) or all.
	Runs string `json:"runs"`
	// Scheduling allows pins, reserved, reserve and unreserve.
	Scheduling bool `json:"scheduling"`
}

// EventsRight stands among a caller's functions and allows the stream of events.
const EventsRight = "events"

// Whose runs a caller may see and change.
const (
	RunsOwn = "own"
	RunsAll = "all"
)
