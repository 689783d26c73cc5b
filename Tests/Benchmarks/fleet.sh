#!/bin/bash
# Measures a fleet of the picture service under load: instances with a shared store, behind a balancer.
#   Tests/Benchmarks/fleet.sh [nginx|haproxy [INSTANCES [CLIENTS [POSTERS]]]]      (haproxy 8 1000 500)
# Every client requests posters at three sizes, one after the other. The parts, and what each checks:
#   filled      all clients start with empty caches: the origin gets one request for each poster
#   killed      kill -9 of an instance: no client sees an error, and nothing is fetched again
#   added       another instance: at most 1 in INSTANCES pictures moves, each to the new instance
#   restarted   SIGTERM and a new start of each instance in turn: no client sees an error
# After each part, compares all pictures with those of the first part.
# Needs Debian's nginx, haproxy, wrk and curl. Uses the program named by MARQUEE, or a release build. SECONDS_EACH: seconds of
# load in each part (10). PARTS: the parts after the first (killed added restarted). The scratch folder is in TMPDIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. sample-data/fleet/fleet.bash
kind=${1:-haproxy} instances=${2:-8} clients=${3:-1000} posters=${4:-500} seconds=${SECONDS_EACH:-10}
sizes=(w92 w154 w342)
for program in wrk curl; do
    command -v "$program" >/dev/null || fleet_fail "$program is missing; install it with: apt-get install $program"
done
origin=
finish() {
    [ -z "$origin" ] || kill "$origin" 2>/dev/null || true
    fleet_end
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failures=0
# must NAME LEFT OPERATOR RIGHT
must() {
    if [ "$2" "$3" "$4" ]; then
        printf '%-58s %8s\n' "$1" "$2"
    else
        printf '%-58s %8s   FAILED: must be %s %s\n' "$1" "$2" "$3" "$4"
        failures=$((failures + 1))
    fi
}

# The points on the ring depend on the ports, so all runs use the same ports.
fleet_last_port=20999
fleet_begin "$kind"
[ "$(ulimit -n)" -ge 4096 ] || ulimit -n 4096
[ "$(ulimit -n)" -ge $((clients * 3)) ] || ulimit -n $((clients * 3))

# The origin: the sample posters, repeated, each with other bytes after its end. Its log counts the requests.
mkdir "$fleet_folder/origin"
sources=(sample-data/posters/*.jpg)
for number in $(seq "$posters"); do
    { cat "${sources[$((number % ${#sources[@]}))]}" && printf '%s' "$number"; } >"$fleet_folder/origin/$number.jpg"
done
fleet_free_port
origin_port=$free_port
cat >"$fleet_folder/origin.conf" <<CONF
worker_processes 1;
pid origin.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
    client_body_temp_path origin-body; proxy_temp_path origin-proxy; fastcgi_temp_path origin-fastcgi;
    uwsgi_temp_path origin-uwsgi; scgi_temp_path origin-scgi;
    types { image/jpeg jpg; }
    server { listen 127.0.0.1:$origin_port backlog=4096; root origin; access_log origin-access.log; expires 1h; }
}
CONF
nginx -p "$fleet_folder" -e stderr -c origin.conf -g "$fleet_nginx" >"$fleet_folder/origin.log" 2>&1 &
origin=$!
fleet_wait_for "$origin" "$origin_port" 'the origin' "$fleet_folder/origin.log"
fetched() { wc -l <"$fleet_folder/origin-access.log"; }

start() {
    fleet_instance "$1" --source "127.0.0.1:$origin_port" --allow-private 127.0.0.0/8 --log json
}
fleet_store
members=$(seq -s " " "$instances")
for instance in $members; do start "$instance"; done
for instance in $members; do fleet_ready "$instance"; done
fleet_balance $members

for number in $(seq "$posters"); do
    printf 'http://127.0.0.1:%s/%s.jpg' "$origin_port" "$number" | base64 -w 0 | tr '+/' '-_' | tr -d '='
    echo
done >"$fleet_folder/sources"
cat >"$fleet_folder/load.lua" <<LUA
local sources, sizes, n = {}, {"${sizes[0]}", "${sizes[1]}", "${sizes[2]}"}, 0
for line in io.lines("$fleet_folder/sources") do sources[#sources + 1] = line end
-- All sizes of a poster one after the other, like a page.
function request()
    local path = "/image/-/" .. sizes[n % 3 + 1] .. "/" .. sources[math.floor(n / 3) % #sources + 1]
    n = n + 1
    return wrk.format("GET", path)
end
LUA
# load NAME [SECONDS]: starts the clients for that time. `loaded NAME` waits for their end and checks.
load() {
    wrk -t1 -c"$clients" -d"${2:-$seconds}" --timeout 60s -s "$fleet_folder/load.lua" "${fleet_address%/}" \
        >"$fleet_folder/wrk-$1" 2>&1 &
    loading=$!
}
loaded() {
    local errors other
    wait "$loading"
    errors=$(sed -n 's/.*Socket errors: connect \([0-9]*\), read \([0-9]*\), write \([0-9]*\), timeout \([0-9]*\).*/\1 + \2 + \3 + \4/p' \
        "$fleet_folder/wrk-$1")
    other=$(sed -n 's/.*Non-2xx or 3xx responses: //p' "$fleet_folder/wrk-$1")
    must "$1: requests" "$(sed -n 's/ *\([0-9]*\) requests in .*/\1/p' "$fleet_folder/wrk-$1")" -gt 0
    must "$1: requests that failed" "$((${errors:-0} + ${other:-0}))" -eq 0
}
# all NAME: requests every picture once. Compares them with those of the first time.
all() {
    local size source
    while read -r source; do
        for size in "${sizes[@]}"; do
            printf 'url = "%simage/-/%s/%s"\noutput = "%s"\n' "$fleet_address" "$size" "$source" "$fleet_folder/pictures/$size-$source"
        done
    done <"$fleet_folder/sources" >"$fleet_folder/pictures.curl"
    rm -rf "$fleet_folder/pictures"
    mkdir "$fleet_folder/pictures"
    curl -sS --fail --parallel --parallel-max 16 --config "$fleet_folder/pictures.curl" 2>"$fleet_folder/curl-$1" || true
    (cd "$fleet_folder/pictures" && find . -type f | sort | xargs -r sha256sum) >"$fleet_folder/sums-$1"
    must "$1: pictures" "$(wc -l <"$fleet_folder/sums-$1")" -eq $((posters * ${#sizes[@]}))
    [ -e "$fleet_folder/sums" ] || cp "$fleet_folder/sums-$1" "$fleet_folder/sums"
    must "$1: pictures that differ" "$(comm -13 "$fleet_folder/sums" "$fleet_folder/sums-$1" | wc -l)" -eq 0
}
# Waits until the instances have written their queues to the store.
settle() {
    local before=-1 now=0
    while [ "$now" != "$before" ]; do
        before=$now
        sleep 1
        now=$(find "$fleet_folder/store" -type f | wc -l)
    done
    printf '%-58s %8s\n' "$1: entries in the store" "$now"
}
# where I...: prints which instance has which poster. Requests each poster once, and reads the instances' logs.
where() {
    local instance
    for instance in "$@"; do : >"$fleet_folder/instance-$instance.log"; done
    sed "s,^\(.*\)\$,url = \"${fleet_address}image/-/${sizes[0]}/\1\"\noutput = \"/dev/null\"," "$fleet_folder/sources" \
        | curl -sS --fail --config -
    # The service logs a request a moment after its answer.
    for _ in $(seq 100); do
        [ "$(cat "$fleet_folder"/instance-*.log | grep -c '"source"')" -lt "$posters" ] || break
        sleep 0.1
    done
    for instance in "$@"; do
        sed -n "s,.*\"source\":\"\([^\"]*\)\".*,\1 $instance,p" "$fleet_folder/instance-$instance.log"
    done | sort
}

printf '%s: %s instances, %s clients, %s posters at %s sizes\n' "$kind" "$instances" "$clients" "$posters" "${#sizes[@]}"

load filled $((seconds * 2))
loaded filled
all filled
must 'filled: requests at the origin' "$(fetched)" -eq "$posters"
settle filled

killed() {
    load killed
    sleep $((seconds / 3))
    kill -KILL "${fleet_process[2]}"
    wait "${fleet_process[2]}" 2>/dev/null || true
    loaded killed
    all killed
    must 'killed: requests at the origin' "$(fetched)" -eq "$posters"
    start 2
    fleet_ready 2
    # Until the balancer uses it again: nginx after its fail_timeout.
    [ "$kind" = haproxy ] && sleep 2 || sleep 6
}
added() {
    where $members >"$fleet_folder/before"
    local new=$((instances + 1))
    start "$new"
    fleet_ready "$new"
    members+=" $new"
    fleet_balance $members
    sleep 3
    where $members >"$fleet_folder/after"
    must 'added: pictures whose instances are known' "$(sort -u "$fleet_folder/before" "$fleet_folder/after" | cut -d ' ' -f 1 | sort -u | wc -l)" -eq "$posters"
    comm -13 "$fleet_folder/before" "$fleet_folder/after" >"$fleet_folder/moved"
    must "added: pictures that moved, of $posters" "$(wc -l <"$fleet_folder/moved")" -le $((posters / instances))
    must 'added: pictures that moved to an old instance' "$(grep -cv " $new\$" "$fleet_folder/moved" || true)" -eq 0
    must 'added: requests at the origin' "$(fetched)" -eq "$posters"
}
restarted() {
    load restarted $((seconds + instances * 5))
    for instance in $members; do
        sleep 1
        kill -TERM "${fleet_process[$instance]}"
        wait "${fleet_process[$instance]}" || true
        start "$instance"
        fleet_ready "$instance"
    done
    loaded restarted
    all restarted
    must 'restarted: requests at the origin' "$(fetched)" -eq "$posters"
}
for part in ${PARTS:-killed added restarted}; do "$part"; done

[ "$failures" = 0 ] || fleet_fail "$failures checks failed with $kind"
