package registry

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
)

// Login gives a user and a password; an empty user: there is none.
type Login func(ctx context.Context) (user, password string, err error)

// Secrets reads Secrets of the runs' namespace.
type Secrets interface {
	Secret(ctx context.Context, name string) (map[string][]byte, error)
}

// FromSecret is the login that the registry's Secret has for it; nil when the
// registry has no Secret.
func FromSecret(secrets Secrets, registry image.Registry) Login {
	if registry.Auth == "" {
		return nil
	}
	return func(ctx context.Context) (string, string, error) {
		data, err := secrets.Secret(ctx, registry.Auth)
		if kind := fault.KindOf(err); kind == fault.Unavailable {
			return "", "", err
		} else if err != nil {
			// A mistake of the deployment: passed on as it is, a Secret that is
			// not there would read as an image that is not there.
			return "", "", fault.Wrap(fault.Internal, err, "the registry's Secret cannot be read: %v", err)
		}
		return loginOf(data[corev1.DockerConfigJsonKey], registry)
	}
}

// LoginAccess is what the login needs of the cluster.
func LoginAccess(registry image.Registry) []function.Access {
	if registry.Auth == "" {
		return nil
	}
	return []function.Access{{Resource: "secrets", Verbs: []string{"get"}, Names: []string{registry.Auth}}}
}

// loginOf finds the registry in Docker's config, which writes hosts as people
// do: with a scheme, or with a path behind.
func loginOf(config []byte, registry image.Registry) (user, password string, err error) {
	var decoded struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	// The cause would say a part of the Secret.
	if json.Unmarshal(config, &decoded) != nil {
		return "", "", fault.New(fault.Internal, "the Secret %s has no %s that decodes", registry.Auth, corev1.DockerConfigJsonKey)
	}
	for name, login := range decoded.Auths {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
		if host, _, _ := strings.Cut(name, "/"); host == registry.Host {
			return login.Username, login.Password, nil
		}
	}
	return "", "", fault.New(fault.Internal, "the Secret %s knows no login for %s", registry.Auth, registry.Host)
}
