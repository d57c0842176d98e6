package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"net/http"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// algorithms are the hashes of an HMAC, by their names in configs and headers.
var algorithms = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}

// one gives the value of a header that must stand there exactly once: of two,
// a proxy and we might each believe another.
func one(header http.Header, name string) (string, error) {
	values := header.Values(name)
	if len(values) != 1 || values[0] == "" {
		return "", fault.New(fault.Unproven, "the delivery needs exactly one header %s", name)
	}
	return values[0], nil
}

// hexDigest reads `<algorithm>=<hex>` or, where bare is true, `<hex>` alone.
func hexDigest(text, algorithm string, bare bool) ([]byte, bool) {
	digits, prefixed := strings.CutPrefix(text, algorithm+"=")
	if !prefixed && !bare {
		return nil, false
	}
	digest, err := hex.DecodeString(digits)
	if err != nil || len(digest) != algorithms[algorithm]().Size() {
		return nil, false
	}
	return digest, true
}

// verifyHex proves a body by the hexadecimal HMAC in a header.
func verifyHex(header http.Header, name, algorithm string, bare bool, body []byte, secrets []secret.Value) error {
	text, err := one(header, name)
	if err != nil {
		return err
	}
	digest, ok := hexDigest(text, algorithm, bare)
	if !ok {
		return fault.New(fault.Unproven, "the header %s is not a %s signature in hexadecimal", name, algorithm)
	}
	for _, value := range secrets {
		if hmac.Equal(digest, sum(algorithms[algorithm], value.Bytes(), body)) {
			return nil
		}
	}
	return fault.New(fault.Unproven, "the signature in %s is not one of this body with the hook's secret", name)
}

// sum is the HMAC of the parts. An empty key would be everybody's.
func sum(algorithm func() hash.Hash, key []byte, parts ...[]byte) []byte {
	if len(key) == 0 {
		return nil
	}
	mac := hmac.New(algorithm, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
