package component

import "github.com/runhook/runhook/localcluster/layout"

const alertmanagerAddress = layout.Gateway + ":9093"

// alertmanager starts with a receiver that does nothing. Tests put their own
// configuration in its place and ask it to reload.
func alertmanager() Component {
	const name = "alertmanager"
	return process(name, []string{"dns"}, func(c *Cluster) Process {
		config := c.Home.Run(name, "alertmanager.yml")
		return Process{
			Command: []string{
				"prometheus-alertmanager", "--config.file=" + config, "--storage.path=" + c.Home.Run(name, "data"),
				"--web.listen-address=" + alertmanagerAddress, "--cluster.listen-address=",
			},
			Files: map[string]string{config: "route: {receiver: none}\nreceivers: [{name: none}]\n"},
		}
	}, answers200("http://"+alertmanagerAddress+"/-/ready"))
}
