package hook

import (
	"net/http"
	"regexp"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// generic is any sender that signs the body by an HMAC in some header.
type generic struct {
	header    string
	algorithm string
	delivery  string // header of the delivery's id, or empty
	secrets   []secret.Value
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

func newHMAC(spec *Spec, secrets []secret.Value, problems *fault.List) Provider {
	g := generic{spec.Header, spec.Algorithm, spec.DeliveryHeader, secrets}
	if g.algorithm == "" {
		g.algorithm = "sha256"
	}
	if !headerName.MatchString(g.header) {
		problems.Add("header", "name the header that holds the signature")
	}
	if g.delivery != "" && !headerName.MatchString(g.delivery) {
		problems.Add("deliveryHeader", "%q is not the name of a header", g.delivery)
	}
	if _, ok := algorithms[g.algorithm]; !ok {
		problems.Add("algorithm", "%q is neither sha256 nor sha512", g.algorithm)
	}
	return g
}

func (g generic) Verify(d Delivery, _ time.Time) error {
	return verifyHex(d.Header, g.header, g.algorithm, true, d.Body, g.secrets)
}

func (g generic) Identify(header http.Header) (event, delivery string) {
	return "", header.Get(g.delivery)
}

func (generic) Default() Type { return Other }

// Knows no names: nothing says where one would stand.
func (generic) Knows(string) bool { return false }

func (generic) Decode(string, object) ([]Event, error) { return []Event{newEvent(Other)}, nil }
