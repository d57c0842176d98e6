package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

var requests = []Request{
	{Name: "server", User: "api", IP: []string{"127.0.0.1"}, DNS: []string{"kubernetes"}},
	{Name: "node1", User: "system:node:node1", Group: "system:nodes"},
}

func ensure(t *testing.T) Dir {
	t.Helper()
	dir := Dir(filepath.Join(t.TempDir(), "pki"))
	if err := Ensure(dir, requests); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCertificatesServeAndIdentify(t *testing.T) {
	dir := ensure(t)
	authority, err := os.ReadFile(dir.Cert(Authority))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatal("the authority's certificate cannot be read")
	}
	for name, check := range map[string]x509.VerifyOptions{
		"server": {Roots: roots, DNSName: "127.0.0.1", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		"node1":  {Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	} {
		pair, err := tls.LoadX509KeyPair(dir.Cert(name), dir.Key(name)) // fails when they do not belong together
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pair.Leaf.Verify(check); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "node1" && (pair.Leaf.Subject.CommonName != "system:node:node1" || pair.Leaf.Subject.Organization[0] != "system:nodes") {
			t.Errorf("node1 is taken for %s", pair.Leaf.Subject)
		}
	}
}

func TestEnsureKeepsWhatIsThereAndAddsWhatIsNot(t *testing.T) {
	dir := ensure(t)
	before, err := os.ReadFile(dir.Cert("server"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Ensure(dir, append(requests, Request{Name: "late", User: "late"})); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(dir.Cert("server"))
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("a certificate that was there was made anew")
	}
	if _, err := tls.LoadX509KeyPair(dir.Cert("late"), dir.Key("late")); err != nil {
		t.Errorf("the new certificate: %v", err)
	}
}

func TestSignerIsAPublicKey(t *testing.T) {
	content, err := os.ReadFile(ensure(t).Cert(ServiceAccounts))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	if _, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil {
		t.Error(err)
	}
}

func TestKubeconfigStandsAlone(t *testing.T) {
	dir := ensure(t)
	path := filepath.Join(t.TempDir(), "deep", "kubeconfig")
	if err := WriteKubeconfig(path, dir, "node1", "https://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	if config.Clusters[0].Cluster.Server != "https://127.0.0.1:1" {
		t.Errorf("the server is %q", config.Clusters[0].Cluster.Server)
	}
	if _, err := tls.X509KeyPair(config.Users[0].User.Cert, config.Users[0].User.Key); err != nil {
		t.Errorf("the user's pair: %v", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(config.Clusters[0].Cluster.CA) {
		t.Error("the authority cannot be read")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the kubeconfig: %v", info.Mode())
	}
}
