package run

import "strings"

// Free text passes two expanders on its way to a container: Argo replaces
// {{…}} anywhere in a template, and Kubernetes replaces $(NAME) in env values,
// command and args. Escape writes text so that Argo sees nothing to replace
// and Kubernetes writes the very same bytes back.
//
// Argo's own way of writing braces, {{='{{'}}, will not do: what it gives is
// expanded again.

// Brace is the variable that stands for a brace after a brace. It must be the
// first env entry of the container.
const Brace = "RUNHOOK_BRACE"

const brace = "$(" + Brace + ")"

// Escape writes free text for an env value, a command or an argument.
func Escape(text string) string {
	at := needsEscape(text)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(brace))
	b.WriteString(text[:at])
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$':
			b.WriteString("$$")
		case c == '{' && i > 0 && text[i-1] == '{':
			b.WriteString(brace)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// needsEscape is the index of the first byte that Escape changes, or -1.
func needsEscape(text string) int {
	dollar, braces := strings.IndexByte(text, '$'), strings.Index(text, "{{")
	switch {
	case braces < 0:
		return dollar
	case dollar < 0 || braces+1 < dollar:
		return braces + 1
	default:
		return dollar
	}
}
