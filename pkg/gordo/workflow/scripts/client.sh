set -euo pipefail
# Predicts from the start of the training until now; all else stands in the
# environment.
exec gordo-client predict "$GORDO_TRAIN_START_DATE" "$(date --utc '+%Y-%m-%d %H:%M:%S+00:00')"
