package hook

// Type is what an event is, whatever its host calls it.
type Type string

// The types. The set is closed.
const (
	Push  Type = "push"
	Tag   Type = "tag"
	Ping  Type = "ping"
	Alert Type = "alert"
	Other Type = "other"
)

var eventTypes = []Type{Push, Tag, Ping, Alert, Other}

// Event is what a delivery says, in one form for all hosts. CEL sees it as
// `event`, by the names of its JSON. All fields are always there, empty when
// unknown.
type Event struct {
	Provider string `json:"provider"`
	Type     Type   `json:"type"`
	Name     string `json:"name"` // as the host calls it
	Delivery string `json:"delivery"`

	Repo      Repo     `json:"repo"`
	Ref       string   `json:"ref"`
	Branch    string   `json:"branch"`
	Tag       string   `json:"tag"`
	Before    string   `json:"before"` // empty where nothing was before
	SHA       string   `json:"sha"`
	Created   bool     `json:"created"`
	Deleted   bool     `json:"deleted"`
	Forced    bool     `json:"forced"`
	Sender    string   `json:"sender"`
	Message   string   `json:"message"`   // of the head commit
	Committed string   `json:"committed"` // time of the head commit, RFC 3339
	Paths     []string `json:"paths"`
	// PathsComplete is false when the host cut its list, or lists nothing.
	PathsComplete bool `json:"pathsComplete"`

	// Of alerts; Group are the labels that Alertmanager grouped by.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Status      string            `json:"status"`
	StartsAt    string            `json:"startsAt"`
	EndsAt      string            `json:"endsAt"`
	Fingerprint string            `json:"fingerprint"`
	Group       map[string]string `json:"group"`
}

// Repo is a repository.
type Repo struct {
	FullName string `json:"fullName"`
	CloneURL string `json:"cloneURL"`
	Host     string `json:"host"`
}

// isPush reports a push of a branch or a tag.
func (e *Event) isPush() bool { return e.Type == Push || e.Type == Tag }

// newEvent makes an event whose lists are there, so that JSON and CEL never
// meet a null.
func newEvent(kind Type) Event {
	return Event{
		Type: kind, Paths: []string{},
		Labels: map[string]string{}, Annotations: map[string]string{}, Group: map[string]string{},
	}
}
