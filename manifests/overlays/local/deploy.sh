#!/usr/bin/env bash
# Deploys bin/runhook to the local cluster: packs and pushes its image, draws
# the secrets once, applies the overlay and waits until every replica is ready.
# The EventSources and Sensors come up behind it: nothing here waits for them.
# Alertmanager gets its token; `make up` has given it and Prometheus their files.
# Wants the environment of `localcluster env`.
set -euo pipefail
cd "$(dirname "$0")/../../.."

digest=$(go run ./image -binary bin/runhook -to "$RUNHOOK_REGISTRY/runhook:local")

secrets=(github-secret demo-token sensor-token reader-token planner-token guest-token alert-token gitlab-secret bitbucket-server-secret webhook-token state-token gitea-secret gitea-token)
mkdir -p bin/deploy
# Gitea draws its tokens itself. Where there is none, one is drawn in its place:
# no run comes from there, so the sink has nothing to send and nobody sees it.
gitea=$RUNHOOK_CLUSTER_STATE/gitea/status-token
[ ! -s "$gitea" ] || cp "$gitea" bin/deploy/gitea-token
for secret in "${secrets[@]}"; do
  [ -s "bin/deploy/$secret" ] || head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' > "bin/deploy/$secret"
done
printf 'Bearer %s' "$(cat bin/deploy/sensor-token)" > bin/deploy/sensor-authorization
install -m 600 bin/deploy/alert-token "$RUNHOOK_CLUSTER_STATE/alertmanager/alert-token"

cat > bin/deploy/kustomization.yaml <<EOF
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../manifests/overlays/local]
images:
- {name: runhook, newName: "10.88.0.1:5000/runhook", digest: "${digest#*@}"}
secretGenerator:
- name: runhook-secrets
  namespace: runhook-system
  files: [$(IFS=,; echo "${secrets[*]}")]
# EventSources and Sensors name their Secrets where kustomize does not look.
- name: runhook-eventsources
  namespace: argo-events
  options: {disableNameSuffixHash: true}
  files: [github-secret, gitlab-secret, bitbucket-server-secret, webhook-token, state-token, alert-token]
  literals: [gitlab-access-token=unused, bitbucket-server-access-token=unused]
- name: runhook-sensor
  namespace: argo-events
  options: {disableNameSuffixHash: true}
  files: [authorization=sensor-authorization]
EOF

kubectl apply --server-side --force-conflicts -k bin/deploy > bin/deploy/apply.log
kubectl -n runhook-system rollout status deployment/runhook --timeout=120s
kubectl -n runhook-system rollout status deployment/runhook-watch --timeout=120s
