package server

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// wantsText reports whether a caller would rather read text than JSON: it
// names text/plain with more weight. Who takes anything gets JSON.
func wantsText(header http.Header) bool {
	text, json := 0.0, 0.0
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, ok := parameters["q"]; ok {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		switch media {
		case "text/plain":
			text = max(text, weight)
		case "application/json":
			json = max(json, weight)
		}
	}
	return text > json
}
