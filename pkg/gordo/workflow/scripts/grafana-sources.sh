set -euo pipefail
# Gives Grafana its two data sources and the dashboard of the machines. bash
# alone speaks HTTP here, so that the image needs nothing else.
post() {
  exec 3<>"/dev/tcp/$GRAFANA_HOST/3000"
  printf 'POST %s HTTP/1.0\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s' "$1" "$GRAFANA_HOST" "${#2}" "$2" >&3
  read -r _ status _ <&3
  exec 3>&-
  echo "grafana answered $status to $1"
  # 409: it is there already, from an earlier try.
  [[ $status == 200 || $status == 409 ]]
}
post /api/datasources '{"name": "InfluxDB", "type": "influxdb", "access": "proxy", "isDefault": true, "database": "feeder", "url": "http://'"$INFLUX_HOST"':8086"}'
post /api/datasources '{"name": "Postgres", "type": "postgres", "access": "proxy", "user": "postgres", "database": "postgres", "url": "'"$POSTGRES_HOST"':5432", "jsonData": {"sslmode": "disable", "postgresVersion": 1000}}'
post /api/dashboards/db '{"overwrite": true, "dashboard": {"uid": "machines", "title": "Machines", "timezone": "utc", "time": {"from": "now-30d", "to": "now"}, "templating": {"list": [{"name": "machine", "type": "query", "datasource": "InfluxDB", "query": "SHOW TAG VALUES WITH KEY = \"machine\"", "refresh": 2}]}, "panels": [{"type": "graph", "title": "$machine", "datasource": "InfluxDB", "gridPos": {"x": 0, "y": 0, "w": 24, "h": 16}, "targets": [{"rawQuery": true, "query": "SELECT mean(*) FROM /.*/ WHERE \"machine\" = '"'"'$machine'"'"' AND $timeFilter GROUP BY time($__interval) fill(null)"}]}]}}'
