// Package pki makes the cluster's certificates and the kubeconfigs that hold them.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity outlives any local cluster.
const validity = 10 * 365 * 24 * time.Hour

// Request asks for a certificate of the cluster's authority, for server and client use.
type Request struct {
	// Name is the file name without its ending.
	Name string
	// User and Group are the subject: who the API server takes a client for.
	User, Group string
	DNS         []string
	IP          []string
}

// Dir is a folder of keys and certificates.
type Dir string

// Cert is the path of a certificate.
func (d Dir) Cert(name string) string { return filepath.Join(string(d), name+".crt") }

// Key is the path of a private key.
func (d Dir) Key(name string) string { return filepath.Join(string(d), name+".key") }

// Authority is the name of the cluster's authority within the folder.
const Authority = "ca"

// ServiceAccounts is the name of the key pair that signs service account tokens.
const ServiceAccounts = "service-accounts"

// Ensure makes the authority, the signing key and every certificate that is not there yet.
func Ensure(dir Dir, requests []Request) error {
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return fmt.Errorf("make the folder of the certificates: %w", err)
	}
	if !exists(dir.Cert(Authority)) {
		if err := dir.makeAuthority(); err != nil {
			return fmt.Errorf("make the authority: %w", err)
		}
	}
	if !exists(dir.Cert(ServiceAccounts)) {
		if err := dir.makeSigner(); err != nil {
			return fmt.Errorf("make the key of service accounts: %w", err)
		}
	}
	for _, r := range requests {
		if exists(dir.Cert(r.Name)) {
			continue
		}
		if err := dir.issue(r); err != nil {
			return fmt.Errorf("make the certificate %s: %w", r.Name, err)
		}
	}
	return nil
}

func (d Dir) makeAuthority() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template, err := newTemplate(pkix.Name{CommonName: "runhook local cluster"})
	if err != nil {
		return err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	return d.write(Authority, key, "CERTIFICATE", der)
}

// makeSigner writes the public key where other names have a certificate: the API server takes either.
func (d Dir) makeSigner() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return d.write(ServiceAccounts, key, "PUBLIC KEY", der)
}

func (d Dir) issue(r Request) error {
	pair, err := d.loadAuthority()
	if err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	template, err := certificate(r)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, pair.cert, key.Public(), pair.key)
	if err != nil {
		return err
	}
	return d.write(r.Name, key, "CERTIFICATE", der)
}

func certificate(r Request) (*x509.Certificate, error) {
	subject := pkix.Name{CommonName: r.User}
	if r.Group != "" {
		subject.Organization = []string{r.Group}
	}
	template, err := newTemplate(subject)
	if err != nil {
		return nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = r.DNS
	for _, ip := range r.IP {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	return template, nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity), // an hour back for clocks that step
	}, nil
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (d Dir) loadAuthority() (authority, error) {
	certDER, err := readPEM(d.Cert(Authority))
	if err != nil {
		return authority{}, err
	}
	keyDER, err := readPEM(d.Key(Authority))
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return authority{}, err
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	return authority{cert, key}, err
}

// write puts the certificate last, as its presence says that both are there.
func (d Dir) write(name string, key *ecdsa.PrivateKey, kind string, der []byte) error {
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(d.Key(name), "EC PRIVATE KEY", keyDER); err != nil {
		return err
	}
	return writePEM(d.Cert(name), kind, der)
}

func writePEM(path, kind string, der []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func readPEM(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	return block.Bytes, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
