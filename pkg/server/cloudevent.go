package server

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/strict"
)

// checkHead says from the headers whether a function's request can be read:
// JSON, or a CloudEvent with JSON as data.
func checkHead(header http.Header) error {
	if err := hook.CheckHead(header); err != nil {
		return err
	}
	switch kind := mediaType(header.Get("Content-Type")); {
	case isJSON(kind) && kind != event.ApplicationCloudEventsBatchJSON:
		return nil
	default:
		return fault.New(fault.MediaType, "a function takes JSON, or one CloudEvent whose data is JSON")
	}
}

// data gives the request that a body holds: the body itself, or the data of a
// CloudEvent in structured mode. In binary mode the body is the data, and the
// headers must name an event.
func data(header http.Header, body []byte) (json.RawMessage, error) {
	if mediaType(header.Get("Content-Type")) == event.ApplicationCloudEventsJSON {
		return structured(body)
	}
	if version := header.Get("Ce-Specversion"); version != "" {
		e := event.New()
		if version != event.CloudEventsVersionV1 {
			return nil, fault.New(fault.Invalid, "CloudEvents are read in version %s only", event.CloudEventsVersionV1)
		}
		e.SetID(header.Get("Ce-Id"))
		e.SetSource(header.Get("Ce-Source"))
		e.SetType(header.Get("Ce-Type"))
		return body, valid(e)
	}
	return body, nil
}

func structured(body []byte) (json.RawMessage, error) {
	var envelope json.RawMessage
	if err := strict.JSON(body, &envelope); err != nil {
		return nil, err
	}
	e := event.New()
	if err := json.Unmarshal(envelope, &e); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "not a CloudEvent of version %s", event.CloudEventsVersionV1)
	}
	if e.SpecVersion() != event.CloudEventsVersionV1 {
		return nil, fault.New(fault.Invalid, "CloudEvents are read in version %s only", event.CloudEventsVersionV1)
	}
	if err := valid(e); err != nil {
		return nil, err
	}
	if kind := e.DataContentType(); kind != "" && !isJSON(mediaType(kind)) {
		return nil, fault.New(fault.MediaType, "the CloudEvent's data must be JSON")
	}
	return e.Data(), nil
}

// valid checks an event's attributes.
func valid(e event.Event) error {
	err := e.Validate()
	if err == nil {
		return nil
	}
	var fields event.ValidationError
	var list fault.List
	if errors.As(err, &fields) {
		for name, wrong := range fields {
			list.Add(name, "%s", clip(wrong.Error()))
		}
	}
	if list.Len() == 0 {
		return fault.Wrap(fault.Invalid, err, "not a CloudEvent of version %s", event.CloudEventsVersionV1)
	}
	return list.Err(fault.Invalid, "the CloudEvent is not valid")
}

func mediaType(value string) string {
	kind, _, _ := mime.ParseMediaType(value)
	return kind
}

func isJSON(kind string) bool {
	return kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
}
