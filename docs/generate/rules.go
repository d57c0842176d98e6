package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// rules is the file that a Prometheus without the operator loads.
const rules = "manifests/monitoring/rules/runhook.yaml"

const ruleObject = `# Made from %s by ` + "`make generate`" + `: change that file.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: runhook
  namespace: runhook-system
  labels: {app.kubernetes.io/name: runhook}
spec:
`

// prometheusRule wraps the rules into the operator's object as they are written:
// there is one text of each rule.
func prometheusRule(page *bytes.Buffer) error {
	text, err := os.ReadFile(rules)
	if err != nil {
		return err
	}
	_, groups, found := strings.Cut(string(text), "\ngroups:\n")
	if !found {
		return fmt.Errorf("%s has no groups", rules)
	}
	fmt.Fprintf(page, ruleObject+"  groups:\n", rules)
	for line := range strings.Lines(groups) {
		fmt.Fprint(page, "  ", line)
	}
	return nil
}
