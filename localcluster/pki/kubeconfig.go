package pki

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// WriteKubeconfig writes a kubeconfig for one user that needs no other file.
func WriteKubeconfig(path string, dir Dir, user, server string) error {
	var data [3][]byte
	for i, file := range []string{dir.Cert(Authority), dir.Cert(user), dir.Key(user)} {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("write a kubeconfig: %w", err)
		}
		data[i] = content
	}
	content, err := Kubeconfig(server, user, data[0], data[1], data[2])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return nil
}

// Kubeconfig renders a kubeconfig of one cluster and one user.
func Kubeconfig(server, user string, authority, cert, key []byte) ([]byte, error) {
	const name = "runhook-local"
	type object = map[string]any
	out, err := yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{"server": server, "certificate-authority-data": authority}}},
		"users":    []object{{"name": user, "user": object{"client-certificate-data": cert, "client-key-data": key}}},
		"contexts": []object{{"name": name, "context": object{"cluster": name, "user": user}}},
	})
	if err != nil {
		return nil, fmt.Errorf("render a kubeconfig: %w", err)
	}
	return out, nil
}
