package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// authorize gives the Authorization that one of the challenges asks for. A
// token comes before a password: it opens this image only, and not for long.
func (s *session) authorize(ctx context.Context, challenges []challenge) (string, error) {
	basic := false
	for _, c := range challenges {
		switch c.scheme {
		case "bearer":
			token, err := s.token(ctx, c.parameters)
			return "Bearer " + token, err
		case "basic":
			basic = true
		}
	}
	if !basic {
		return "", fault.New(fault.BadUpstream, "the registry %s asks for a proof that is neither Bearer nor Basic", s.registry.Host)
	}
	user, password, err := s.credentials(ctx)
	if err != nil {
		return "", err
	}
	if user == "" {
		return "", fault.New(fault.BadUpstream, "the registry %s asks for a password: name a Secret that has one in cluster.registry.auth", s.registry.Host)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)), nil
}

func (s *session) credentials(ctx context.Context) (user, password string, err error) {
	if s.login == nil {
		return "", "", nil
	}
	return s.login(ctx)
}

// token asks the realm for a token that lets one pull the image.
func (s *session) token(ctx context.Context, parameters map[string]string) (string, error) {
	realm, err := url.Parse(parameters["realm"])
	if err != nil || realm.Host == "" {
		return "", fault.New(fault.BadUpstream, "the registry %s asks for a token and says no address that gives one", s.registry.Host)
	}
	query := realm.Query()
	if service := parameters["service"]; service != "" {
		query.Set("service", service)
	}
	query.Set("scope", "repository:"+s.ref.Path()+":pull")
	realm.RawQuery, realm.Fragment = query.Encode(), ""
	// Before the password is fetched: it is not for an address that is refused.
	if problem := (allowed{registry: s.registry}).problem(realm); problem != "" {
		return "", fault.New(fault.BadUpstream, "the registry %s wants a token of %s://%s, %s", s.registry.Host, realm.Scheme, realm.Host, problem)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, realm.String(), nil)
	if err != nil {
		return "", fault.Wrap(fault.BadUpstream, err, "the registry %s names an address for tokens that is none", s.registry.Host)
	}
	user, password, err := s.credentials(ctx)
	if err != nil {
		return "", err
	}
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	return s.fetchToken(request)
}

// fetchToken says nothing of a reply's text: it may hold a token.
func (s *session) fetchToken(request *http.Request) (string, error) {
	whom := "the token host " + request.URL.Host
	response, err := s.do(request, whom)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fault.New(fault.BadUpstream, "%s answered %s", whom, response.Status)
	}
	body, err := read(response.Body, limits.RegistryToken)
	if err != nil {
		return "", fault.Wrap(fault.BadUpstream, err, "the reply of %s: %v", whom, err)
	}
	var reply struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return "", fault.New(fault.BadUpstream, "%s answered with no JSON object of a token", whom)
	}
	if reply.Token == "" {
		reply.Token = reply.AccessToken // OAuth 2.0's name for it
	}
	if reply.Token == "" {
		return "", fault.New(fault.BadUpstream, "%s answered without a token", whom)
	}
	return reply.Token, nil
}
