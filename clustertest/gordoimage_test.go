//go:build cluster

package clustertest

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// gordoVersion is the tag of the stand-ins: a release, which has one image for
// all of gordo's programs.
const gordoVersion = "6.0.4"

// standIns are gordo's programs: they check what they are given, and say it.
var standIns = map[string]string{
	// A builder that finds a token of the cluster, or lacks what a builder
	// needs, fails. It writes its model, and holds when it is told to.
	"bin/build": `#!/bin/sh
set -eu
[ ! -e /var/run/secrets/kubernetes.io/serviceaccount/token ] || { echo "a builder finds a token" >&2; exit 9; }
[ "$PROJECT_NAME" = "$WANT_PROJECT" ]
[ "$MODEL_REGISTER_DIR" = "/gordo/models/$PROJECT_NAME/model_register" ]
[ "$AZUREML_WORKSPACE_STR" = workspace ]
[ "$EXCEPTIONS_REPORTER_FILE" = /tmp/exception.json ]
while [ -n "${HOLD:-}" ]; do sleep 0.2; done
mkdir -p "$OUTPUT_DIR"
echo model > "$OUTPUT_DIR/model"
printf '%s\n%s\n%s' "$MACHINE" "$OUTPUT_DIR" "$SAID"
echo '<end>'
`,
	// The server, and the one of its metrics, which is given a port.
	"bin/gordo": `#!/bin/sh
set -eu
[ "$1" = run-server ]
port=5555
if [ "$2" = --port ]; then port=$3; else printf '%s %s %s' "$EXPECTED_MODELS" "$MODEL_COLLECTION_DIR" "$2"; echo '<end>'; fi
mkdir -p /tmp/www
echo ok > /tmp/www/healthcheck
exec busybox httpd -f -p "$port" -h /tmp/www
`,
	// A client asks the server, by its Service, and says what it would predict.
	"bin/gordo-client": `#!/bin/sh
set -eu
[ ! -e /var/run/secrets/kubernetes.io/serviceaccount/token ] || { echo "a client finds a token" >&2; exit 9; }
[ "$GORDO_CLIENT_PROJECT" = "$WANT_PROJECT" ]
[ "$GORDO_CLIENT_PREDICT_INFLUX_URI" = ":@gordo-influx-$WANT_PROJECT:8086//feeder" ]
until busybox wget -q -O /tmp/answer "$GORDO_CLIENT_SCHEME://$GORDO_CLIENT_HOST:$GORDO_CLIENT_PORT/healthcheck"; do sleep 1; done
printf '%s %s %s %s' "$1" "$GORDO_CLIENT_TARGET" "$2" "$DATA_PROVIDER"
echo '<end>'
`,
	// Influx and Grafana: every request is fine, and is said.
	"bin/stands-in": `#!/bin/sh
exec busybox nc -ll -p "$1" -e /bin/answer
`,
	"bin/answer": `#!/bin/sh
read -r request
length=0
while read -r header && [ ${#header} -gt 1 ]; do
  case "$header" in [Cc]ontent-[Ll]ength:*) length=$(echo "$header" | busybox tr -cd 0-9) ;; esac
done
busybox head -c "$length" > /tmp/body
echo "$request" > /proc/1/fd/1
printf 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'
`,
	"bin/pg_isready": "#!/bin/sh\n",
}

// stores are the images that gordo takes from Docker Hub, which this cluster
// does not reach, with what stands in for their programs. The nodes keep them
// as long as the cluster is there.
var stores = map[string][]string{
	"library/influxdb:1.8.5-alpine": {"/bin/stands-in", "8086"},
	"grafana/grafana:7.5.7":         {"/bin/stands-in", "3000"},
	"library/postgres:11.2":         {"/bin/sh", "-c", "while :; do sleep 1; done"},
}

// mirror lets the nodes take Docker Hub's images from the local registry.
func (s *site) mirror() {
	s.Helper()
	folders, err := filepath.Glob(filepath.Join(env(s.T, "RUNHOOK_CLUSTER_STATE"), "node*", "registries"))
	must(s, err)
	if len(folders) == 0 {
		s.Fatal("the nodes have no list of registries")
	}
	for _, folder := range folders {
		folder = filepath.Join(folder, "docker.io")
		must(s, os.MkdirAll(folder, 0o755))
		s.Cleanup(func() { must(s, os.RemoveAll(folder)) })
		must(s, os.WriteFile(filepath.Join(folder, "hosts.toml"), []byte("[host.\"http://"+registry+"\"]\n  capabilities = [\"pull\", \"resolve\"]\n"), 0o600))
	}
}

// gordoImage packs the stand-ins with the shells and the kubectl of this
// machine, pushes them, and gives the repository as the cluster names it. The
// same content has the same repository, so that nodes pull it once.
func (s *site) gordoImage() (repository string) {
	s.Helper()
	var archive bytes.Buffer
	t := tar.NewWriter(&archive)
	add := func(header tar.Header, content []byte) {
		header.Size = int64(len(content))
		must(s, t.WriteHeader(&header))
		_, err := t.Write(content)
		must(s, err)
	}
	copied := func(path, from string) {
		content, err := os.ReadFile(from)
		must(s, err)
		add(tar.Header{Name: path, Mode: 0o755}, content)
	}
	program := func(name string) string {
		path, err := exec.LookPath(name)
		must(s, err)
		return path
	}
	add(tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	copied("bin/busybox", program("busybox"))
	for _, command := range []string{"sh", "sleep", "mkdir", "wc", "date"} {
		add(tar.Header{Name: "bin/" + command, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
	}
	copied("bin/kubectl", program("kubectl"))
	bash := program("bash")
	copied("bin/bash", bash)
	libraries, err := exec.Command("ldd", bash).Output()
	must(s, err)
	for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(libraries), -1) {
		copied(strings.TrimPrefix(library, "/"), library)
	}
	for _, path := range slices.Sorted(maps.Keys(standIns)) {
		add(tar.Header{Name: path, Mode: 0o755}, []byte(standIns[path]))
	}
	must(s, t.Close())

	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil })
	must(s, err)
	image, err := mutate.AppendLayers(empty.Image, layer)
	must(s, err)
	config, err := image.ConfigFile()
	must(s, err)
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config.Env = []string{"PATH=/bin"}
	image, err = mutate.ConfigFile(image, config)
	must(s, err)
	content, err := layer.DiffID()
	must(s, err)
	repository = "gordo-" + content.Hex[:12]
	push := func(to string, image v1.Image) {
		ref, err := name.NewTag(env(s.T, "RUNHOOK_REGISTRY")+"/"+to, name.Insecure)
		must(s, err)
		must(s, remote.Write(ref, image, remote.WithContext(s.Context())))
	}
	push(repository+"/gordo-base:"+gordoVersion, image)
	for to, entrypoint := range stores {
		config := config.DeepCopy()
		config.Config.Entrypoint = entrypoint
		image, err := mutate.ConfigFile(image, config)
		must(s, err)
		push(to, image)
	}
	return repository
}
