package strict

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
)

// The walker steps over JSON that json.Valid has passed, so that it need not
// look for mistakes of syntax.

// peek skips white space and gives the first byte of what follows.
func (w *walker) peek() byte {
	for {
		switch c := w.data[w.pos]; c {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return c
		}
	}
}

// str steps over a string and gives it with its quotes; escaped says whether
// there is a backslash in it.
func (w *walker) str() (raw []byte, escaped bool) {
	start := w.pos
	for i := start + 1; ; i++ {
		switch w.data[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			w.pos = i + 1
			return w.data[start:w.pos], escaped
		}
	}
}

// word steps over a number, true, false or null.
func (w *walker) word() []byte {
	start := w.pos
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return w.data[start:w.pos]
		}
		w.pos++
	}
	return w.data[start:]
}

// unquote gives a string's text.
func unquote(raw []byte, escaped bool) []byte {
	if !escaped {
		return raw[1 : len(raw)-1]
	}
	var text string
	_ = json.Unmarshal(raw, &text) // it is valid
	return []byte(text)
}

// halfCharacter finds one half of a surrogate pair without the other: no
// character, for which encoding/json would silently put another.
func halfCharacter(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		first := hex4(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		if raw[i+1] != '\\' || raw[i+2] != 'u' || utf16.DecodeRune(first, hex4(raw[i+3:])) == '\uFFFD' {
			return true
		}
		i += 6
	}
	return false
}

func hex4(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 32)
	return rune(n)
}
