package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

// target says where functions are called: at a server, with a token; or on a
// cluster itself, with the rights of a kubeconfig.
type target struct {
	server, tokenFile  string
	kubeconfig, config string
	namespace          string
}

func (t *target) flags(cmd *cobra.Command, sys System) {
	t.access(cmd, sys)
	cmd.Flags().StringVar(&t.namespace, "namespace", runs, "the namespace of the runs, where no config says it")
}

// runs is the namespace of the runs where nobody says another.
const runs = "runs"

// access adds the flags that say where, but for the namespace.
func (t *target) access(cmd *cobra.Command, sys System) {
	f := cmd.Flags()
	f.StringVar(&t.server, "server", sys.Getenv("RUNHOOK_URL"), "the URL of a runhook (default: RUNHOOK_URL)")
	f.StringVar(&t.tokenFile, "token-file", sys.Getenv("RUNHOOK_TOKEN_FILE"), "the file with its bearer token (default: RUNHOOK_TOKEN_FILE)")
	f.StringVar(&t.kubeconfig, "kubeconfig", "", "go straight to the cluster of this kubeconfig (without a server: the default one)")
	configFlag(cmd, sys, &t.config)
	cmd.MarkFlagsMutuallyExclusive("server", "kubeconfig")
}

// call is one call of a function.
type call struct {
	name    string
	request any // encoded as JSON
	key     string
	dryRun  bool
	// text takes the answer where it is a text; nil: JSON is asked for.
	text io.Writer
}

// caller calls functions, and gives the answer as JSON.
type caller interface {
	do(ctx context.Context, call call) (json.RawMessage, error)
}

// reach gives who calls functions where the flags say. A kubeconfig that is
// named wins over a server that the environment names.
func (t *target) reach(sys System) (caller, error) {
	if t.server != "" && t.kubeconfig == "" {
		return newRemote(t.server, t.tokenFile, sys)
	}
	return newLocal(t, sys)
}
