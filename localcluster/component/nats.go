package component

import (
	"fmt"

	"github.com/runhook/runhook/localcluster/layout"
)

const natsAddress = layout.Gateway + ":4222"

// nats is the JetStream behind the event bus. Argo Events always dials with TLS.
func nats() Component {
	return process("nats", []string{"certificates", "network"}, func(c *Cluster) Process {
		config := c.Home.Run("nats.conf")
		return Process{
			Command: []string{"nats-server", "--config", config},
			Files: map[string]string{config: fmt.Sprintf(`listen: "%s"
http: "127.0.0.1:8222"
jetstream { store_dir: "%s", max_memory_store: 64MB, max_file_store: 1GB }
tls { cert_file: "%s", key_file: "%s" }
`, natsAddress, c.Home.Run("nats"), c.PKI.Cert(natsServing), c.PKI.Key(natsServing))},
		}
	}, answers200("http://127.0.0.1:8222/healthz"))
}
