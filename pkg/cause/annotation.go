package cause

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// document is the evidence as it is written, before compression.
type document struct {
	Entries []Entry `json:"entries"`
	Dropped dropped `json:"dropped,omitzero"`
}

// Encode gives the annotation's text: base64 of gzip of JSON. Equal evidence
// gives equal text. Over the limit of bytes the oldest entries are dropped.
func (e *Evidence) Encode() (string, error) {
	for {
		text, err := encode(document{Entries: e.Entries(), Dropped: e.dropped})
		if err != nil || len(text) <= limits.EvidenceBytes {
			return text, err
		}
		e.keepNewest(len(e.entries) * 9 / 10)
	}
}

func encode(d document) (string, error) {
	var out bytes.Buffer
	b64 := base64.NewEncoder(base64.StdEncoding, &out)
	zip, err := gzip.NewWriterLevel(b64, gzip.BestCompression)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "evidence cannot be compressed")
	}
	if err := cmp.Or(json.NewEncoder(zip).Encode(d), zip.Close(), b64.Close()); err != nil {
		return "", fault.Wrap(fault.Internal, err, "evidence cannot be written")
	}
	return out.String(), nil
}

// Decode reads the annotation's text; an empty one is no evidence yet. The
// text is not trusted: whoever may change the Workflow may write it.
func Decode(text string) (*Evidence, error) {
	e := &Evidence{}
	if text == "" {
		return e, nil
	}
	if len(text) > 2*limits.EvidenceBytes {
		return nil, fault.New(fault.TooLarge, "annotation %s: %d bytes, at most %d are read", Annotation, len(text), 2*limits.EvidenceBytes)
	}
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "annotation %s: not base64 of gzip: %v", Annotation, err)
	}
	plain, err := io.ReadAll(io.LimitReader(zip, limits.EvidencePlain+1))
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "annotation %s: not base64 of gzip: %v", Annotation, err)
	}
	if len(plain) > limits.EvidencePlain {
		return nil, fault.New(fault.TooLarge, "annotation %s: over %d bytes when decompressed", Annotation, limits.EvidencePlain)
	}
	var d document
	if err := json.Unmarshal(plain, &d); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "annotation %s: %v", Annotation, err)
	}
	e.dropped = d.Dropped
	for _, entry := range d.Entries {
		entry.Conditions = mergeConditions(entry.Conditions, nil)
		e.Add(entry)
	}
	return e, nil
}
