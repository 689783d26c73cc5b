#!/bin/bash
# How the service stands large films: `wrk -c500` on a library of 1,000 films of 100 KB, and on one with a film of 2.3 MB
# and 200,000 members, as earlier versions stored. At least 95 % of the answers must be 200, none may time out, the memory
# may reach 300 MB, and must be below 150 MB again 10 s after the load. Then four readers that read nothing ask for
# different pages: the memory may reach 400 MB, and other requests are answered meanwhile.
#
#     Tests/Faults/heavy-films.sh [SECONDS]      wrk runs so long each time, 10 by default
#
# Needs wrk, curl, python3 and sqlite3 (Debian packages of these names), and a release build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-10}
marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
process=
finish() {
    [ -n "$process" ] && kill "$process" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
failures=0
fail() {
    printf 'failed: %s\n' "$1"
    failures=$((failures + 1))
}
python3 - "$work" <<'PY'
import json, sys
work = sys.argv[1]
films = [{"id": f"film-{n}", "title": f"Film {n}", "year": 1900 + n % 120, "notes": "x" * 100_000} for n in range(1000)]
json.dump({"movies": films}, open(f"{work}/many.json", "w"))
json.dump({"movies": films[:1]}, open(f"{work}/one.json", "w"))
film = {"title": "Large"} | {f"m{n}": n % 10 for n in range(200_000)}
open(f"{work}/large.txt", "w").write(json.dumps(film, separators=(",", ":")))
PY
"$marquee" import "$work/many.json" "$work/many.db" >/dev/null || exit 2
"$marquee" import "$work/one.json" "$work/large.db" >/dev/null || exit 2
sqlite3 "$work/large.db" "UPDATE films SET document = CAST(readfile('$work/large.txt') AS TEXT)" || exit 2

memory() { awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$process/status"; }
# Prints the most memory of the process in MB, until its standard input ends.
watch_memory() {
    local most=0 now status
    while true; do
        read -r -t 0.1
        status=$?
        # At the end of its input, not at a timeout.
        [ "$status" -gt 128 ] || break
        now=$(memory)
        [ "$now" -gt "$most" ] && most=$now
    done
    echo "$most"
}
start() {
    exec {output}< <(exec "$marquee" serve "$1" --quiet --no-disk-cache)
    process=$!
    read -r -t 60 address <&"$output" || exit 2
}
stop() {
    kill "$process"
    process=
}
# load NAME TARGET
load() {
    exec {watch}> >(watch_memory >"$work/most")
    local watcher=$!
    wrk -t1 -c500 -d"${seconds}s" --timeout 10s "${address%/}$2" >"$work/wrk"
    exec {watch}>&-
    wait "$watcher"
    local all bad timeouts most
    all=$(awk '/requests in/ { print $1 }' "$work/wrk")
    bad=$(awk '/Non-2xx/ { print $NF }' "$work/wrk")
    timeouts=$(sed -nE 's/.*timeout ([0-9]+).*/\1/p' "$work/wrk")
    most=$(cat "$work/most")
    local waited=0
    while [ "$(memory)" -ge 150 ] && [ "$waited" -lt 10 ]; do
        sleep 1
        waited=$((waited + 1))
    done
    printf '%s: %d answers, %d not 200, %d timeouts, most %d MB, %d MB after %d s\n' "$1" "$all" "${bad:-0}" "${timeouts:-0}" \
        "$most" "$(memory)" "$waited"
    [ "$all" -gt 0 ] && [ $((${bad:-0} * 20)) -le "$all" ] || fail "$1: fewer than 95 % of the answers are 200"
    [ "${timeouts:-0}" = 0 ] || fail "$1: timeouts"
    [ "$most" -le 300 ] || fail "$1: more than 300 MB"
    [ "$(memory)" -lt 150 ] || fail "$1: the memory did not go back"
}

start "$work/many.db"
load '1,000 films of 100 KB' /films
load '1,000 films of 100 KB, limit=1000' '/films?limit=1000'
load '1,000 films of 100 KB, as pages' '/films.html'
# Readers that read nothing, each of another page.
python3 - "$address" "$process" <<'PY' || fail 'slow readers'
import socket, sys, time, urllib.request
address, process = sys.argv[1], sys.argv[2]
port = int(address.rstrip("/").rsplit(":", 1)[1])
def memory(): return int(next(l for l in open(f"/proc/{process}/status") if l.startswith("VmRSS")).split()[1]) // 1024
readers = []
for n in range(100):
    reader = socket.create_connection(("127.0.0.1", port))
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.sendall(f"GET /films?limit={900 - n}&sort=title HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    readers.append(reader)
most, slowest, end = 0, 0.0, time.monotonic() + 5
while time.monotonic() < end:
    began = time.monotonic()
    with urllib.request.urlopen(address + "films/film-1") as answer: answer.read()
    slowest = max(slowest, time.monotonic() - began)
    most = max(most, memory())
print(f"100 readers that read nothing, each of another page: most {most} MB, other requests at most {slowest * 1000:.0f} ms")
sys.exit(most > 400)
PY
stop
start "$work/large.db"
load 'a film of 2.3 MB and 200,000 members' /films
load 'the film alone' /films/film-0
stop
printf '%d failed\n' "$failures"
[ "$failures" = 0 ]
