package yaml11

import (
	"bytes"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// A config is one long list of machines. Read at once, its tree takes some
// twenty times the file; read in batches of items, it takes that of a batch.

// batchBytes is what a batch of items holds at least.
const batchBytes = 128 << 10

// stand is what the list holds while the rest is read: no config holds it, and
// one that did would be read at once.
const stand = "the machines are read in batches"

// batched reads a config whose machines are a block list, batch by batch. It
// gives ok only when nothing at all was wrong: every cut lies before an item of
// the list, so that a text which means something else across a cut (an open
// quote, an alias) does not read; then the config is read at once.
func batched(text []byte, size int) (v any, ok bool) {
	start, end, indent, found := itemsOf(text)
	if !found || end-start < 2*size {
		return nil, false
	}
	r := newReader(true)
	skeleton := append([]byte(nil), text[:start]...)
	skeleton = append(append(append(skeleton, bytes.Repeat([]byte(" "), indent)...), `- "`+stand+"\"\n"...), text[end:]...)
	v, err := r.document(skeleton, 0)
	if err != nil {
		return nil, false
	}
	owner, depth := machinesOwner(v)
	list, _ := owner.At("machines").([]any)
	if len(list) != 1 || list[0] != stand {
		return nil, false
	}
	list = list[:0]
	for start < end {
		cut := nextItem(text[:end], start+size, indent)
		items, err := r.document(text[start:cut], depth)
		batch, isList := items.([]any)
		if err != nil || !isList {
			return nil, false
		}
		list = append(list, batch...)
		start = cut
	}
	owner.Set("machines", list)
	return v, true
}

// machinesOwner is the mapping that holds the machines, and how deep its values
// stand.
func machinesOwner(v any) (*py.Map, int) {
	m, _ := v.(*py.Map)
	if spec, there := m.Get("spec"); there {
		inner, _ := spec.(*py.Map)
		return inner.MapAt("config"), 3
	}
	return m, 1
}

// itemsOf finds the lines of the first block list under a key `machines`, and
// how far its dashes are indented.
func itemsOf(text []byte) (start, end, indent int, ok bool) {
	for pos := 0; pos < len(text); {
		line, next := lineAt(text, pos)
		pos = next
		if !isMachinesKey(line) {
			continue
		}
		for pos < len(text) {
			line, next = lineAt(text, pos)
			if !blank(line) {
				break
			}
			pos = next
		}
		indent = spaces(line)
		if !isItem(line, indent) {
			return 0, 0, 0, false
		}
		return pos, endOfList(text, pos, indent), indent, true
	}
	return 0, 0, 0, false
}

func isMachinesKey(line []byte) bool {
	key, rest, ok := bytes.Cut(line, []byte(":"))
	return ok && string(bytes.TrimLeft(key, " ")) == "machines" && blank(rest)
}

// endOfList is where the first line stands that belongs to something else.
func endOfList(text []byte, pos, indent int) int {
	for pos < len(text) {
		line, next := lineAt(text, pos)
		if !blank(line) && !isItem(line, indent) && spaces(line) <= indent {
			return pos
		}
		pos = next
	}
	return pos
}

// nextItem is where the first item begins on a line behind pos.
func nextItem(text []byte, pos, indent int) int {
	for pos = min(pos, len(text)); pos < len(text); {
		_, next := lineAt(text, pos)
		if pos = next; pos < len(text) {
			if line, _ := lineAt(text, pos); isItem(line, indent) {
				return pos
			}
		}
	}
	return len(text)
}

func lineAt(text []byte, pos int) (line []byte, next int) {
	if n := bytes.IndexByte(text[pos:], '\n'); n >= 0 {
		return text[pos : pos+n], pos + n + 1
	}
	return text[pos:], len(text)
}

// blank is a line of nothing, or of a comment.
func blank(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	return len(line) == 0 || line[0] == '#' || string(line) == "\r"
}

func spaces(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func isItem(line []byte, indent int) bool {
	return spaces(line) == indent && bytes.HasPrefix(line[indent:], []byte("- "))
}
