#!/bin/bash
# How long new connections wait for their answer beside 400 busy ones: `ab -n 200 -c 200 /films/top3` while
# `wrk -t1 -c400 /films` runs. Compares marquee serve with one nginx worker that has the same JSON in files. Prints
# ab's median in milliseconds and wrk's requests per second, each as the median of RUNS rounds (default 7), measured in
# turn, with their ratios. wrk runs SECONDS_EACH each (3); ab starts a second after it.
#   Tests/Benchmarks/new-connections.sh [PROGRAM...]    also measures other builds of marquee, in the same rounds
# Needs Debian's nginx-light, wrk, apache2-utils, curl and libsqlite3-0, and a release build. All files are in
# $TMPDIR/marquee-new-connections. CONTENT (default: a library of sample-data/movies.json) is what marquee serves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${TMPDIR:-/tmp}/marquee-new-connections
programs=("$(swift build -c release --show-bin-path)/marquee" "$@")
port=${PORT:-8094}
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    if [ -f "$folder/nginx.pid" ]; then kill "$(cat "$folder/nginx.pid")" 2>/dev/null || true; fi
}
trap finish EXIT

rm -rf "$folder"
mkdir -p "$folder/files"
content=${CONTENT:-$folder/films.db}
if [ -z "${CONTENT:-}" ]; then "${programs[0]}" import sample-data/movies.json "$content" >/dev/null; fi
names=(nginx)
urls=("http://127.0.0.1:$port")
for program in "${programs[@]}"; do
    number=${#names[@]}
    "$program" serve "$content" --port $((port + number)) >"$folder/out-$number" 2>&1 &
    processes+=($!)
    names+=("$program")
    urls+=("http://127.0.0.1:$((port + number))")
done
cat >"$folder/nginx.conf" <<CONF
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    default_type application/json;
    server {
        listen 127.0.0.1:$port;
        root $folder/files;
        location = /films { try_files /films.json =404; }
        location = /films/top3 { try_files /top3.json =404; }
    }
}
CONF
nginx -c "$folder/nginx.conf"
curl -sf --retry 20 --retry-connrefused --retry-delay 1 "${urls[1]}/films" >"$folder/files/films.json"
curl -sSf "${urls[1]}/films/top3" >"$folder/files/top3.json"
# The bodies may differ in the time at which a film was added, and in nothing else.
for url in "${urls[@]}"; do
    for name in films top3; do
        path=/films
        if [ "$name" = top3 ]; then path=/films/top3; fi
        length=$(curl -sf --retry 20 --retry-connrefused --retry-delay 1 "$url$path" | wc -c)
        if [ "$length" != "$(wc -c <"$folder/files/$name.json")" ]; then
            echo "$url$path has $length bytes, others have more or fewer" >&2
            exit 1
        fi
    done
done

# One line: ab's median in milliseconds, and wrk's requests per second.
measure() {
    wrk -t1 -c400 -d"${SECONDS_EACH:-3}" "$1/films" >"$folder/wrk" &
    local busy=$!
    sleep 1
    ab -q -n 200 -c 200 "$1/films/top3" >"$folder/ab"
    wait "$busy"
    if grep -Eq 'Non-2xx|Socket errors' "$folder/wrk" || grep -q 'Non-2xx' "$folder/ab" ||
        ! grep -q '^Complete requests: *200$' "$folder/ab"; then
        echo "$1 failed:" >&2
        cat "$folder/wrk" "$folder/ab" >&2
        exit 1
    fi
    awk '$1 == "50%" { median = $2 } $1 == "Requests/sec:" { rate = $2 } END { print median, rate }' \
        "$folder/ab" "$folder/wrk"
}
# median COLUMN FILE
median() { awk -v column="$1" '{ print $column }' "$2" | sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

for _ in $(seq "${RUNS:-7}"); do
    for number in "${!names[@]}"; do measure "${urls[number]}" >>"$folder/results-$number"; done
done
for number in "${!names[@]}"; do
    paste "$folder/results-$number" "$folder/results-0" | awk '{ print $1 / ($3 > 0 ? $3 : 1), $2 / $4 }' >"$folder/ratios"
    echo "${names[number]}: $(median 1 "$folder/results-$number") ms ($(median 1 "$folder/ratios") of nginx's)," \
        "beside $(median 2 "$folder/results-$number") requests/s ($(median 2 "$folder/ratios") of nginx's)"
done
