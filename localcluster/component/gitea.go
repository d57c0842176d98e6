package component

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/runhook/runhook/localcluster/layout"
)

// gitea is a git host with one user. It is a process of the namespace, as a
// host outside of the cluster would be.
func gitea() Component {
	return process("gitea", []string{"dns"}, func(c *Cluster) Process {
		return Process{
			Command: []string{c.Gitea.Program(), "web", "--config", giteaConfig(c)},
			Files:   map[string]string{giteaConfig(c): giteaSettings(c)},
		}
	}, answers200("http://"+layout.Gitea+"/api/healthz"))
}

func giteaConfig(c *Cluster) string { return c.Home.Run("gitea", "app.ini") }

// giteaSettings let hooks go to private addresses, where the cluster's Services
// are. Of the database it is waited for long: its own commands write beside the
// server, on a machine that may be busy.
func giteaSettings(c *Cluster) string {
	return fmt.Sprintf(`APP_NAME = localcluster
RUN_MODE = prod
RUN_USER = root
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %s
[server]
STATIC_ROOT_PATH = %s
HTTP_ADDR = %s
HTTP_PORT = %s
ROOT_URL = http://%s/
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
SQLITE_JOURNAL_MODE = WAL
SQLITE_TIMEOUT = 20000
[security]
INSTALL_LOCK = true
[webhook]
ALLOWED_HOST_LIST = private
[service]
DISABLE_REGISTRATION = true
[actions]
ENABLED = false
[packages]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
LEVEL = Warn
`, c.Home.Run("gitea"), c.Gitea.Files(), layout.Gateway, strings.TrimPrefix(layout.Gitea, layout.Gateway+":"), layout.Gitea)
}

// giteaUserName owns what tests push to.
const giteaUserName = "acme"

// giteaTokens are what the user's tokens may do, by the files that hold them.
var giteaTokens = map[string]string{
	"token":        "all",              // for tests
	"status-token": "write:repository", // for the watch, which sets statuses
}

// giteaUser is the user with its tokens, which Gitea draws itself.
func giteaUser() Component {
	return Component{
		Name: "gitea-user", Needs: []string{"gitea"}, Patience: patience,
		Start: func(ctx context.Context, c *Cluster) error {
			if giteaHasTokens(c) == nil {
				return nil
			}
			if err := giteaMakeUser(ctx, c); err != nil {
				return err
			}
			for file, scope := range giteaTokens {
				if err := giteaMakeToken(ctx, c, file, scope); err != nil {
					return err
				}
			}
			return nil
		},
		Ready: func(_ context.Context, c *Cluster) error { return giteaHasTokens(c) },
	}
}

func giteaHasTokens(c *Cluster) error {
	for file := range giteaTokens {
		if _, err := os.Stat(c.Home.Run("gitea", file)); err != nil {
			return err
		}
	}
	return nil
}

func giteaMakeUser(ctx context.Context, c *Cluster) error {
	_, err := giteaAdmin(ctx, c, "user", "create", "--admin", "--username", giteaUserName,
		"--email", giteaUserName+"@example.org", "--random-password", "--must-change-password=false")
	if err != nil && strings.Contains(err.Error(), "already exists") {
		return nil // an earlier try came so far
	}
	return err
}

// giteaToken is a line of its own: Gitea's log may stand before or after it.
var giteaToken = regexp.MustCompile(`(?m)^[0-9a-f]{40}$`)

func giteaMakeToken(ctx context.Context, c *Cluster, file, scope string) error {
	// A name is used once, and an earlier try may have used one.
	name := fmt.Sprintf("%s-%d", file, time.Now().UnixNano())
	out, err := giteaAdmin(ctx, c, "user", "generate-access-token", "--username", giteaUserName, "--token-name", name, "--scopes", scope, "--raw")
	if err != nil {
		return err
	}
	token := giteaToken.FindString(out)
	if token == "" {
		return errors.New("gitea printed no token")
	}
	return writeFile(c.Home.Run("gitea", file), token)
}

// giteaAdmin runs one of Gitea's own commands, its complaint as the error.
func giteaAdmin(ctx context.Context, c *Cluster, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Gitea.Program(), append([]string{"--config", giteaConfig(c), "admin"}, args...)...)
	cmd.Env = plainEnvironment()
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("gitea admin %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}
