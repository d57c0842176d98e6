package registry

import "strings"

// challenge is one way in which a registry lets one prove who asks.
type challenge struct {
	scheme     string // in lower case
	parameters map[string]string
}

// parseChallenges reads the WWW-Authenticate headers of a reply (RFC 9110,
// 11.6.1). One header may hold several challenges, which are parted by commas
// as their parameters are. What does not parse ends the header.
func parseChallenges(headers []string) []challenge {
	var all []challenge
	for _, header := range headers {
		s := scanner{header}
		for {
			s.skip(" \t,")
			scheme := s.token()
			if scheme == "" {
				break
			}
			c := challenge{strings.ToLower(scheme), map[string]string{}}
			for s.parameter(c.parameters) {
			}
			all = append(all, c)
		}
	}
	return all
}

// scanner reads a header from its beginning.
type scanner struct{ rest string }

func (s *scanner) skip(set string) { s.rest = strings.TrimLeft(s.rest, set) }

// parameter reads one `name=value`. What is the next challenge's scheme stays.
func (s *scanner) parameter(into map[string]string) bool {
	before := s.rest
	s.skip(" \t,")
	name := s.token()
	s.skip(" \t")
	if name == "" || !strings.HasPrefix(s.rest, "=") {
		s.rest = before
		return false
	}
	s.rest = s.rest[1:]
	s.skip(" \t")
	value, ok := s.value()
	if !ok {
		s.rest = ""
		return false
	}
	// The first counts, so that nothing behind it changes what it says.
	if name = strings.ToLower(name); into[name] == "" {
		into[name] = value
	}
	return true
}

func (s *scanner) value() (string, bool) {
	if !strings.HasPrefix(s.rest, `"`) {
		value := s.token()
		return value, value != ""
	}
	var value strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.rest = s.rest[i+1:]
			return value.String(), true
		case c == '\\' && i+1 < len(s.rest):
			i++
			value.WriteByte(s.rest[i])
		default:
			value.WriteByte(c)
		}
	}
	return "", false
}

func (s *scanner) token() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
	if end < 0 {
		end = len(s.rest)
	}
	token := s.rest[:end]
	s.rest = s.rest[end:]
	return token
}
