set -euo pipefail
# Creates the database that the clients write to; creating it again is no error.
# bash alone speaks HTTP here, so that the image needs nothing else.
exec 3<>"/dev/tcp/$INFLUX_HOST/8086"
printf 'POST /query?q=CREATE%%20DATABASE%%20feeder HTTP/1.0\r\nHost: %s\r\nContent-Length: 0\r\n\r\n' "$INFLUX_HOST" >&3
read -r _ status _ <&3
echo "influx answered $status"
[[ $status == 200 ]]
