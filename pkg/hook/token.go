package hook

import (
	"net/http"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// verifyToken proves a delivery by a secret that is sent as it is.
func verifyToken(header, token string, secrets []secret.Value) error {
	for _, value := range secrets {
		if value.Equal(token) {
			return nil
		}
	}
	return fault.New(fault.Unproven, "the token in %s is not the hook's secret", header)
}

// verifyBearer proves a delivery by the token of its Authorization header.
func verifyBearer(header http.Header, secrets []secret.Value) error {
	text, err := one(header, "Authorization")
	if err != nil {
		return err
	}
	scheme, token, _ := strings.Cut(text, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return fault.New(fault.Unproven, "the header Authorization is not `Bearer <token>`")
	}
	return verifyToken("Authorization", token, secrets)
}
