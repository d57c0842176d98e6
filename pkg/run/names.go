package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
)

// nameLength is the most that a DNS label and a label's value may have.
const nameLength = 63

// Hash is the hex SHA-256 of texts, each with its length before it, so that
// ("ab", "c") and ("a", "bc") differ.
func Hash(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(strconv.Itoa(len(text)) + ":"))
		h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Key is the key of a run that came without one: the hash of what it asks for,
// however it was written.
func Key(r *Run) (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "the run cannot be written as JSON")
	}
	return Hash("run", string(data)), nil
}

// ScopedKey makes a caller's key its own: the same key of another caller is
// another key.
func ScopedKey(caller, key string) string { return Hash("key", caller, key) }

// NameOfKey is the id of a run that names none.
func NameOfKey(scopedKey string) string { return "run-" + Hash("name", scopedKey)[:16] }

// PushName is the id of a push's run: `<repo slug>-<sha8>-<hash10>`, a valid
// one whatever the host sent. The hash is of the whole key.
func PushName(repo, sha, key string) string {
	parts := []string{slug(repo, 32)}
	if short := slug(sha, 8); short != "" {
		parts = append(parts, short)
	}
	name := strings.Join(append(parts, Hash("push", repo, sha, key)[:10]), "-")
	if c := name[0]; c < 'a' || c > 'z' {
		// At most 32+1+8+1+10 characters stand here, so there is room.
		name = "r-" + strings.TrimLeft(name, "-")
	}
	return name
}

// slug keeps letters and digits, in lower case; a row of others is one hyphen.
func slug(text string, most int) string {
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < most; i++ {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-")
}

// RefLabel is the value of the label runhook/ref, by which the runs of one ref
// are found: refs themselves are too long for labels, and hold other characters.
func RefLabel(route, host, repo, ref string) string {
	return Hash("ref", route, host, repo, ref)[:40]
}

// HelperName is the name of helper n of a split task.
func HelperName(id, task string, n int) string {
	name := id + "-extra-" + task + "-" + strconv.Itoa(n)
	if len(name) <= nameLength {
		return name
	}
	hash := Hash("helper", id, task, strconv.Itoa(n))[:10]
	return strings.TrimRight(name[:nameLength-1-len(hash)], "-") + "-" + hash
}

// WorkerID, MergeID and HelperID name the parts of a split task.
func WorkerID(task string, i int) string { return task + "-" + strconv.Itoa(i) }

// MergeID names the merge of a split task.
func MergeID(task string) string { return task + "-merge" }

// HelperID names helper n of a split task.
func HelperID(task string, n int) string { return task + "-extra-" + strconv.Itoa(n) }
