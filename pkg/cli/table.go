package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/runhook/runhook/pkg/fault"
)

// table prints an answer for people.
type table func(w io.Writer, answer json.RawMessage) error

// one is the table of an answer that is one row.
func one(columns ...string) table {
	return func(w io.Writer, answer json.RawMessage) error {
		var row map[string]any
		if err := decodeAnswer(answer, &row); err != nil {
			return err
		}
		return rows(w, columns, []map[string]any{row})
	}
}

// list is the table of an answer that is a list.
func list(key string, columns ...string) table {
	return func(w io.Writer, answer json.RawMessage) error {
		var lists map[string][]map[string]any
		if err := decodeAnswer(answer, &lists); err != nil {
			return err
		}
		return rows(w, columns, lists[key])
	}
}

// decodeAnswer keeps numbers as they were written.
func decodeAnswer(answer json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fault.Wrap(fault.BadUpstream, err, "the answer is not what the function gives: %v", err)
	}
	return nil
}

func rows(w io.Writer, columns []string, all []map[string]any) error {
	out := columned(w)
	titles := make([]string, len(columns))
	for i, column := range columns {
		titles[i] = title(column)
	}
	out.row(titles...)
	for _, row := range all {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = cell(row, column)
		}
		out.row(cells...)
	}
	return out.Flush()
}

// title is what stands above a field.
func title(field string) string {
	switch field {
	case "memoryGiB":
		return "MEMORY GIB"
	case "free.cores":
		return "FREE CORES"
	case "free.memoryGiB":
		return "FREE MEMORY GIB"
	case "reservedFor":
		return "RESERVED FOR"
	}
	return strings.ToUpper(field)
}

// cell finds a field by its path. What there is none of is a hyphen.
func cell(row map[string]any, path string) string {
	key, rest, nested := strings.Cut(path, ".")
	switch value := row[key].(type) {
	case nil:
		return "-"
	case map[string]any:
		if nested {
			return cell(value, rest)
		}
		return fmt.Sprint(value)
	case string:
		if value == "" {
			return "-"
		}
		return oneLine(value)
	case bool:
		if value {
			return "yes"
		}
		return "no"
	default:
		return oneLine(fmt.Sprint(value))
	}
}

// columns writes rows in columns.
type columns struct{ *tabwriter.Writer }

func columned(w io.Writer) columns { return columns{tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)} }

func (c columns) row(cells ...string) {
	fmt.Fprintln(c, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// oneLine makes a text from a cluster fit for a cell: what it holds must
// neither break the table nor steer a terminal.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
