package component

import (
	"context"
	"fmt"
	"os"

	"github.com/runhook/runhook/localcluster/layout"
)

const alertmanagerAddress = layout.Gateway + ":9093"

// alertmanager has the configuration of the local overlay. The token that it
// names lies beside it from `make deploy` on, and is read with each notification.
func alertmanager() Component {
	const name = "alertmanager"
	p := process(name, []string{"dns"}, nil, answers200("http://"+alertmanagerAddress+"/-/ready"))
	p.Start = func(_ context.Context, c *Cluster) error {
		content, err := os.ReadFile(c.Home.Manifests("overlays", "local", "alertmanager.yaml"))
		if err != nil {
			return fmt.Errorf("read Alertmanager's configuration: %w", err)
		}
		config := c.Home.Run(name, "alertmanager.yml")
		return start(c, name, Process{
			Command: []string{
				"prometheus-alertmanager", "--config.file=" + config, "--storage.path=" + c.Home.Run(name, "data"),
				"--web.listen-address=" + alertmanagerAddress, "--cluster.listen-address=",
			},
			Files: map[string]string{config: string(content)},
		})
	}
	return p
}
