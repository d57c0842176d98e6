package component

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/runhook/runhook/localcluster/layout"
)

const prometheusAddress = layout.Gateway + ":9090"

// prometheus scrapes Kueue, Argo and runhook by their Services' names, as
// Debian's is built without the discovery of Kubernetes.
func prometheus() Component {
	const name = "prometheus"
	p := process(name, []string{"kueue", "dns"}, func(c *Cluster) Process {
		config := c.Home.Run(name, "prometheus.yml")
		files, paths := map[string]string{}, []string{}
		for file, content := range rules(c) {
			path := c.Home.Run(name, "rules", file)
			files[path], paths = content, append(paths, path)
		}
		slices.Sort(paths)
		files[config] = prometheusConfig(c.Home.Run(name), paths)
		return Process{
			Command: []string{
				name, "--config.file=" + config, "--storage.tsdb.path=" + c.Home.Run(name, "data"),
				"--web.listen-address=" + prometheusAddress, "--web.enable-lifecycle",
			},
			Files: files,
		}
	}, answers200("http://"+prometheusAddress+"/-/ready"))
	run := p.Start
	p.Start = func(ctx context.Context, c *Cluster) error {
		if err := kueueToken(ctx, c); err != nil {
			return err
		}
		return run(ctx, c)
	}
	return p
}

// rules are the product's alert rules, by file name.
func rules(c *Cluster) map[string]string {
	found := map[string]string{}
	paths, _ := filepath.Glob(c.Home.Manifests("monitoring", "rules", "*.y*ml")) // the pattern is well-formed
	for _, path := range paths {
		if content, err := os.ReadFile(path); err == nil {
			found[filepath.Base(path)] = string(content)
		}
	}
	return found
}

// kueueToken lets Prometheus read Kueue's metrics, which ask who is there.
func kueueToken(ctx context.Context, c *Cluster) error {
	path := tokenPath(c.Home.Run("prometheus"))
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := apply(ctx, c, "prometheus-access", prometheusAccess); err != nil {
		return err
	}
	token, err := kubectl(ctx, c, "", "create", "token", "prometheus", "--namespace=kueue-system", "--duration=8760h")
	if err != nil {
		return err
	}
	return writeFile(path, token)
}

func tokenPath(dir string) string { return filepath.Join(dir, "kueue-token") }

const prometheusAccess = `apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: kueue-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: prometheus-kueue-metrics}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-metrics-reader}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: kueue-system}]
`

// runhook is looked up as addresses: a headless Service gives every replica.
func prometheusConfig(dir string, rules []string) string {
	return fmt.Sprintf(`global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}
rule_files: [%s]
alerting:
  alertmanagers:
  - static_configs: [{targets: ["%s"]}]
scrape_configs:
- job_name: kueue
  scheme: https
  tls_config: {insecure_skip_verify: true}
  authorization: {credentials_file: %s}
  static_configs: [{targets: [kueue-controller-manager-metrics-service.kueue-system.svc.cluster.local:8443]}]
- job_name: argo-workflows
  static_configs: [{targets: [workflow-controller-metrics.argo.svc.cluster.local:9090]}]
- job_name: runhook
  dns_sd_configs: [{names: [runhook-metrics.runhook-system.svc.cluster.local, runhook-watch-metrics.runhook-system.svc.cluster.local], type: A, port: 9090, refresh_interval: 2s}]
`, strings.Join(rules, ", "), alertmanagerAddress, tokenPath(dir))
}
