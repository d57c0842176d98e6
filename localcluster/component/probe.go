package component

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/pki"
)

// probeTimeout bounds one look at a component.
const probeTimeout = 2 * time.Second

// listens is ready when something takes connections at the address.
func listens(address string) func(context.Context, *Cluster) error {
	return func(ctx context.Context, _ *Cluster) error {
		conn, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// listensOn is ready when something takes connections at a socket below the state's folder.
func listensOn(socket func(*Cluster) string) func(context.Context, *Cluster) error {
	return func(ctx context.Context, c *Cluster) error {
		conn, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "unix", socket(c))
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// answers200 is ready when the address answers 200.
func answers200(url string) func(context.Context, *Cluster) error {
	return func(ctx context.Context, _ *Cluster) error {
		_, err := fetch(ctx, direct, url)
		return err
	}
}

// direct goes through no proxy: all is near.
var direct = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func fetch(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, answer.Status)
	}
	return body, nil
}

// get asks the API server as the cluster's admin.
func get(ctx context.Context, c *Cluster, path string, into any) error {
	pair, err := tls.LoadX509KeyPair(c.PKI.Cert(admin), c.PKI.Key(admin))
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(c.PKI.Cert(pki.Authority))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}}
	defer transport.CloseIdleConnections()
	body, err := fetch(ctx, &http.Client{Transport: transport}, layout.APIServer+path)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// kubectl runs kubectl inside, its complaint as the error.
func kubectl(ctx context.Context, c *Cluster, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Binaries.Path("kubectl"), append([]string{"--kubeconfig", c.Home.AdminKubeconfig()}, args...)...)
	cmd.Env = plainEnvironment()
	cmd.Stdin = strings.NewReader(input)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}
