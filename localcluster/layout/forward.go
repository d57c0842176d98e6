package layout

import "fmt"

// Forward is one address of the machine behind which something of the cluster answers.
type Forward struct {
	// Port is the port on 127.0.0.1.
	Port int
	// Target is dialled inside the namespace when a connection comes; a
	// Service's name is looked up then, so the Service may come and go.
	Target string
	// Variable names the environment variable that tells users of it.
	Variable string
	// Format makes the variable's value of the machine's address.
	Format string
}

// Address is where the forward listens on the machine.
func (f Forward) Address() string { return fmt.Sprintf("127.0.0.1:%d", f.Port) }

// APIForward is the forward that the machine's kubeconfig points to.
var APIForward = Forward{16443, Gateway + ":6443", "RUNHOOK_API_SERVER", "https://%s"}

// Forwards are all that listens on the machine.
var Forwards = []Forward{
	APIForward,
	{15000, Registry, "RUNHOOK_REGISTRY", "%s"},
	{19090, Gateway + ":9090", "RUNHOOK_PROMETHEUS", "http://%s"},
	{19093, Gateway + ":9093", "RUNHOOK_ALERTMANAGER", "http://%s"},
	{11234, Gateway + ":1234", "BUILDKIT_HOST", "tcp://%s"},
	{18080, "runhook.runhook-system.svc.cluster.local:8080", "RUNHOOK_URL", "http://%s"},
	{19091, "runhook-metrics.runhook-system.svc.cluster.local:9090", "RUNHOOK_METRICS", "http://%s"},
	{18081, "runhook-watch.runhook-system.svc.cluster.local:8080", "RUNHOOK_WATCH", "http://%s"},
	{13000, Gitea, "RUNHOOK_GITEA", "http://%s"},
}
