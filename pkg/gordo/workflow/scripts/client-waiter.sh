set -euo pipefail
# Lets a client begin once fewer than GORDO_MAX_CLIENTS of its revision run. A
# random wait keeps all that wait from beginning at the same moment.
if (( GORDO_TOTAL_NR_OF_CLIENTS <= GORDO_MAX_CLIENTS )); then exit 0; fi
selector="app=gordo-client,applications.gordo.equinor.com/project-name=$GORDO_PROJECT_NAME,applications.gordo.equinor.com/project-revision=$GORDO_PROJECT_REVISION"
while :; do
  sleep $(( RANDOM % 30 + 1 ))
  running=$(kubectl get pods --selector="$selector" --field-selector=status.phase=Running -o name | wc -l)
  if (( running < GORDO_MAX_CLIENTS )); then exit 0; fi
done
