#!/bin/bash
# SIGTERM under load: two instances of the picture service behind HAProxy, which polls their readiness. Each
# instance is ended and started again in turn, while wrk requests warm and cold pictures. No request may fail.
#   Tests/Faults/drain-under-load.sh [ROUNDS]      how often each instance is ended (3)
# Needs Debian's haproxy, wrk and curl, and a release build. All files are in $TMPDIR/marquee-drain.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds=${1:-3}
folder=${TMPDIR:-/tmp}/marquee-drain
marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
port=${PORT:-8110}
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
}
trap finish EXIT
rm -rf "$folder"
mkdir -p "$folder"

serve() {
    "$marquee" --cache-dir "$folder/cache-$1" serve sample-data --port $((port + $1)) --admin "127.0.0.1:$((port + 10 + $1))" \
        --drain 2 >>"$folder/out-$1" 2>&1 &
    instances[$1]=$!
    processes+=($!)
    for _ in $(seq 100); do curl -sf -o /dev/null "http://127.0.0.1:$((port + 10 + $1))/health/ready" && return; sleep 0.1; done
    echo "instance $1 does not become ready" >&2
    exit 1
}
serve 1
serve 2
cat >"$folder/haproxy.cfg" <<CONF
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 30s
    option redispatch
    retry-on conn-failure empty-response
frontend pictures
    bind 127.0.0.1:$port
    default_backend instances
backend instances
    option httpchk GET /health/ready
    default-server inter 200ms fall 1 rise 1 check
    server one 127.0.0.1:$((port + 1)) port $((port + 11))
    server two 127.0.0.1:$((port + 2)) port $((port + 12))
CONF
haproxy -f "$folder/haproxy.cfg" &
processes+=($!)
for _ in $(seq 100); do curl -sf -o /dev/null "http://127.0.0.1:$port/films?limit=1" && break; sleep 0.1; done

curl -sf "http://127.0.0.1:$port/films?limit=100" | grep -o '"id":"[^"]*"' | cut -d'"' -f4 >"$folder/films"
cat >"$folder/pictures.lua" <<LUA
local films = {}
for line in io.lines("$folder/films") do films[#films + 1] = line end
local sizes = {"w92", "w154", "w185", "w342", "w500", "w780", "original"}
local n = 0
function request()
    n = n + 1
    return wrk.format("GET", "/films/" .. films[n % #films + 1] .. "/poster/" .. sizes[n % #sizes + 1])
end
LUA
seconds=$((rounds * 12))
wrk -t1 -c32 -d"$seconds" --timeout 20s -s "$folder/pictures.lua" "http://127.0.0.1:$port" >"$folder/wrk" &
load=$!
for _ in $(seq "$rounds"); do
    for instance in 1 2; do
        sleep 1
        kill -TERM "${instances[$instance]}"
        wait "${instances[$instance]}" || true
        serve "$instance"
        sleep 1
    done
done
wait "$load"
grep -E "requests in|Socket errors|Non-2xx" "$folder/wrk"
if grep -qE "Socket errors|Non-2xx" "$folder/wrk"; then exit 1; fi
echo "0 requests failed while each instance was ended $rounds times"
