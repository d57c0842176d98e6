// Package blockyaml writes compact JSON as YAML in block style, in one pass and
// without a tree: a project's Workflows are tens of megabytes. Text is quoted
// wherever any YAML, 1.1 or 1.2, could read it as something else.
package blockyaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Append writes one JSON value, which must be valid and compact as
// encoding/json writes it, as YAML with every line indented by so many spaces:
// 0 makes a document.
func Append(dst, text []byte, indent int) []byte {
	w := &writer{out: dst, text: text}
	w.indent(indent)
	w.value(indent, false)
	return w.out
}

type writer struct {
	out, text []byte
	pos       int
}

// value writes what comes next. Behind a key a mapping or a list begins on its
// own line; behind a dash it begins on the same.
func (w *writer) value(indent int, behindKey bool) {
	switch c := w.text[w.pos]; {
	case c == '{' && w.text[w.pos+1] == '}', c == '[' && w.text[w.pos+1] == ']':
		w.space(behindKey)
		w.out = append(w.out, w.text[w.pos:w.pos+2]...)
		w.out = append(w.out, '\n')
		w.pos += 2
	case c == '{':
		w.mapping(indent, behindKey)
	case c == '[':
		w.list(indent, behindKey)
	case c == '"':
		w.space(behindKey)
		w.scalar(indent)
	default:
		w.space(behindKey)
		end := w.pos + bytes.IndexAny(w.text[w.pos:], ",]}")
		if end < w.pos {
			end = len(w.text)
		}
		w.out = append(append(w.out, w.text[w.pos:end]...), '\n')
		w.pos = end
	}
}

func (w *writer) space(behindKey bool) {
	if behindKey {
		w.out = append(w.out, ' ')
	}
}

func (w *writer) mapping(indent int, behindKey bool) {
	if behindKey {
		w.out = append(w.out, '\n')
	}
	for first := true; w.text[w.pos] != '}'; first = false {
		w.pos++ // the brace, or a comma
		if !first || behindKey {
			w.indent(indent)
		}
		w.key()
		w.out = append(w.out, ':')
		w.pos++ // the colon
		w.value(indent+2, true)
	}
	w.pos++
}

func (w *writer) list(indent int, behindKey bool) {
	if behindKey {
		w.out = append(w.out, '\n')
		indent -= 2 // items stand under their key
	}
	for first := true; w.text[w.pos] != ']'; first = false {
		w.pos++
		if !first || behindKey {
			w.indent(indent)
		}
		w.out = append(w.out, '-', ' ')
		w.value(indent+2, false)
	}
	w.pos++
}

func (w *writer) indent(n int) {
	const spaces = "                                "
	for ; n > len(spaces); n -= len(spaces) {
		w.out = append(w.out, spaces...)
	}
	w.out = append(w.out, spaces[:max(n, 0)]...)
}

// quoted takes the string that comes next, with its quotes.
func (w *writer) quoted() []byte {
	start := w.pos
	for w.pos++; w.text[w.pos] != '"'; w.pos++ {
		if w.text[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
	return w.text[start:w.pos]
}

var plainForm = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// words are read as something else than text by some YAML.
var words = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true}

func plain(text []byte) bool {
	return plainForm.Match(text) && !words[strings.ToLower(string(text))]
}

func (w *writer) key() {
	text := w.quoted()
	if inner := text[1 : len(text)-1]; len(inner) < 64 && plain(inner) {
		text = inner
	}
	w.escaped(text)
}

// escaped writes a quoted string; what JSON lets stand and YAML does not is
// escaped.
func (w *writer) escaped(text []byte) {
	if !bytes.ContainsFunc(text, unprintable) {
		w.out = append(w.out, text...)
		return
	}
	for _, c := range string(text) {
		if unprintable(c) {
			w.out = fmt.Appendf(w.out, `\u%04x`, c)
		} else {
			w.out = utf8.AppendRune(w.out, c)
		}
	}
}

func unprintable(c rune) bool {
	return c >= 0x7f && c < 0xa0 || c == 0xfeff || c == 0xfffe || c == 0xffff
}

func (w *writer) scalar(indent int) {
	text := w.quoted()
	inner := text[1 : len(text)-1]
	switch {
	case len(inner) < 128 && plain(inner):
		w.out = append(append(w.out, inner...), '\n')
	case bytes.Contains(inner, []byte(`\n`)) && w.literal(indent, text):
	default:
		w.escaped(text)
		w.out = append(w.out, '\n')
	}
}

// literal writes a text of several lines as such, where nothing in it would be
// lost; else it writes nothing.
func (w *writer) literal(indent int, quoted []byte) bool {
	var text string
	if json.Unmarshal(quoted, &text) != nil || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || text[0] == ' ' || text[0] == '\n' {
		return false
	}
	for _, c := range text {
		if c != '\n' && (c < ' ' || c > '~') {
			return false
		}
	}
	w.out = append(w.out, '|', '\n')
	for line := range strings.Lines(text) {
		if line != "\n" {
			w.indent(max(indent, 2))
		}
		w.out = append(w.out, line...)
	}
	return true
}
