package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

func TestTLS(t *testing.T) {
	lender := httptest.NewTLSServer(nil) // for its certificate
	defer lender.Close()
	pair := lender.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	options := newSite(t, smallLimits()).Options
	options.Cert, options.Key = write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", key)
	s := New(options)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	client := lender.Client()
	request, err := http.NewRequest(http.MethodPost, "https://"+s.Addr().String()+"/functions/echo", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 401 || response.TLS == nil || response.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%d", response.StatusCode)
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	options.Key = options.Cert
	if err := New(options).Listen(); err == nil {
		t.Error("a certificate is no key")
	}
}
