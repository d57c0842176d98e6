set -euo pipefail
# Deletes the project's unfinished Workflows of other revisions that are older
# than the first of this revision. Of two made in one second the one whose
# revision sorts first gives way, so that never both delete each other.
project="applications.gordo.equinor.com/project-name=$GORDO_PROJECT_NAME"
revision="applications.gordo.equinor.com/project-revision"
list() {
  kubectl get workflows.argoproj.io --selector="$1" --sort-by=.metadata.creationTimestamp \
    -o jsonpath='{range .items[*]}{.metadata.creationTimestamp} {.metadata.labels.applications\.gordo\.equinor\.com/project-revision} {.metadata.name}{"\n"}{end}'
}
own=$(list "$project,$revision=$GORDO_PROJECT_REVISION")
read -r own_time _ <<<"$own"
while :; do
  found=$(list "$project,$revision!=$GORDO_PROJECT_REVISION,workflows.argoproj.io/completed!=true")
  older=()
  while read -r time rev name; do
    if [[ -n $name && "$time $rev" < "$own_time $GORDO_PROJECT_REVISION" ]]; then older+=("$name"); fi
  done <<<"$found"
  if (( ${#older[@]} == 0 )); then exit 0; fi
  kubectl delete workflows.argoproj.io --ignore-not-found "${older[@]}"
  sleep 10
done
