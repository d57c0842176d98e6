package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// patience bounds every wait.
const patience = 2 * time.Minute

// server is an etcd and an API server that only this process knows of.
type server struct {
	dir, kubeconfig string
	processes       []*exec.Cmd
	config          *rest.Config
	kube            *kubernetes.Clientset
}

// startServer wants `etcd` and `hyper`, which holds kube-apiserver, in the path:
// `localcluster env` puts them there.
func startServer(ctx context.Context, dir string) (_ *server, err error) {
	s := &server{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	etcd, peers := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	if err := s.start("etcd", "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls="+peers); err != nil {
		return nil, err
	}
	token, err := s.secrets()
	if err != nil {
		return nil, err
	}
	if err := s.start("hyper", "kube-apiserver", "--etcd-servers="+etcd,
		"--bind-address=127.0.0.1", "--secure-port="+ports[2], "--cert-dir="+dir, "--token-auth-file="+filepath.Join(dir, "tokens"),
		"--service-account-issuer=https://bench", "--service-account-key-file="+filepath.Join(dir, "sa.key"),
		"--service-account-signing-key-file="+filepath.Join(dir, "sa.key"), "--service-cluster-ip-range=10.97.0.0/16",
		"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount"); err != nil {
		return nil, err
	}
	return s, s.connect(ctx, "https://127.0.0.1:"+ports[2], token)
}

// secrets writes the one token that the API server knows, and a key that it
// does not start without.
func (s *server) secrets() (token string, err error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	token = hex.EncodeToString(random)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return token, errors.Join(
		os.WriteFile(filepath.Join(s.dir, "tokens"), []byte(token+",bench,bench,system:masters\n"), 0o600),
		os.WriteFile(filepath.Join(s.dir, "sa.key"), block, 0o600))
}

// start starts a program that ends with this one.
func (s *server) start(program string, args ...string) error {
	log, err := os.Create(filepath.Join(s.dir, program+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return fmt.Errorf("%w: run `make bench-watch`, which knows where it is", err)
	}
	s.processes = append(s.processes, c)
	return nil
}

// connect waits until the API server serves, and writes how it is reached. Its
// certificate is one that it has made itself.
func (s *server) connect(ctx context.Context, url, token string) error {
	access := clientcmdapi.NewConfig()
	access.Clusters["bench"] = &clientcmdapi.Cluster{Server: url, CertificateAuthority: filepath.Join(s.dir, "apiserver.crt")}
	access.AuthInfos["bench"] = &clientcmdapi.AuthInfo{Token: token}
	access.Contexts["bench"] = &clientcmdapi.Context{Cluster: "bench", AuthInfo: "bench"}
	access.CurrentContext = "bench"
	if err := clientcmd.WriteToFile(*access, s.kubeconfig); err != nil {
		return err
	}
	err := eventually(ctx, func() error {
		var err error
		if s.config, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig); err != nil {
			return err
		}
		s.config.QPS = -1
		if s.kube, err = kubernetes.NewForConfig(s.config); err != nil {
			return err
		}
		return s.kube.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "hyper.log"))
		return fmt.Errorf("the API server does not serve: %w\n%s", err, log[max(0, len(log)-2000):])
	}
	return nil
}

// stop ends the processes in the reverse order of their start. There is nothing
// to be kept.
func (s *server) stop() error {
	for len(s.processes) > 0 {
		last := s.processes[len(s.processes)-1]
		s.processes = s.processes[:len(s.processes)-1]
		if err := last.Process.Kill(); err != nil {
			return err
		}
		_ = last.Wait() // it says that it was killed
	}
	return nil
}

func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all at once, so that they differ
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// eventually tries until it succeeds.
func eventually(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
