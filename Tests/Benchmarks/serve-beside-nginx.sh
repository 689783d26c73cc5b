#!/bin/bash
# Compares marquee serve, with one thread for connections, with one nginx worker that has the same bytes in files and
# keeps them open. Prints requests per second over 64 connections (wrk -t1 -c64), measured in turn, and their ratio.
# Medians of RUNS rounds (default 5) of SECONDS_EACH each (3).
#   Tests/Benchmarks/serve-beside-nginx.sh [FILMS]      the library's number of films (100000)
# Needs Debian's nginx-light, wrk, curl and libsqlite3-0, and a release build. All files are in
# $TMPDIR/marquee-serve.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
films=${1:-100000}
folder=${TMPDIR:-/tmp}/marquee-serve
marquee=$(swift build -c release --show-bin-path)/marquee
port=${PORT:-8097}
nginx_port=$((port + 1))
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    if [ -f "$folder/nginx.pid" ]; then kill "$(cat "$folder/nginx.pid")" 2>/dev/null || true; fi
}
trap finish EXIT

mkdir -p "$folder/files/films"
if [ ! -f "$folder/films-$films.db" ]; then
    awk -v films="$films" 'BEGIN {
        print "{\"name\": \"Many\", \"movies\": ["
        for (n = 0; n < films; n++)
            printf "%s{\"id\": \"film-%d\", \"title\": \"The Film %d\", \"year\": %d, \"director\": \"Director %d\", \"genres\": [\"Drama\"], \"minutes\": %d, \"score\": %.1f, \"overview\": \"A night on the river, told in %d pictures. Somebody comes home late and finds that nothing is as it was; the winter is long.\"}\n", (n ? "," : ""), n, n, 1895 + n % 130, n % 997, 40 + n % 120, (n % 91) / 10 + 0.9, n
        print "]}"
    }' >"$folder/films.json"
    rm -f "$folder"/films-*.db*
    "$marquee" import "$folder/films.json" "$folder/films-$films.db" >/dev/null
fi
cp sample-data/posters/the-golem.jpg "$folder/files/poster.jpg"
rm -f "$folder"/sample.db*
"$marquee" import sample-data/movies.json "$folder/sample.db" >/dev/null
"$marquee" serve "$folder/files" --port "$port" --event-threads 1 >"$folder/out" 2>&1 &
processes+=($!)
"$marquee" serve "$folder/films-$films.db" --port $((port + 2)) --event-threads 1 >"$folder/out-films" 2>&1 &
processes+=($!)
"$marquee" serve "$folder/sample.db" --port $((port + 3)) --event-threads 1 >"$folder/out-sample" 2>&1 &
processes+=($!)
cat >"$folder/nginx.conf" <<CONF
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=1000;
    keepalive_requests 1000000000;
    types { application/json json; image/jpeg jpg; text/html html; }
    default_type application/json;
    server { listen 127.0.0.1:$nginx_port; root $folder/files; }
}
CONF
nginx -c "$folder/nginx.conf"
sleep 2
curl -sf "http://127.0.0.1:$((port + 2))/films/film-77" >"$folder/files/films/film-77"
curl -sf "http://127.0.0.1:$((port + 2))/films?limit=20" >"$folder/files/page"

sample="http://127.0.0.1:$((port + 3))"
curl -sf "$sample/films" >"$folder/files/list"
curl -sf "$sample/films.html" >"$folder/files/list.html"
curl -sf "$sample/films/metropolis/poster" >"$folder/files/stored.jpg"
curl -sf "$sample/films/metropolis/poster/w342" >"$folder/files/sized.jpg"

rate() { wrk -t1 -c64 -d"${SECONDS_EACH:-3}" "$1" | awk '/Requests\/sec/ { rate = $2 } /Non-2xx/ { bad = 1 } END { print bad ? 0 : rate }'; }
median() { sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
compare() {
    local name=$1 ours=$2 theirs=$3 run
    : >"$folder/ours"
    : >"$folder/theirs"
    for run in $(seq "${RUNS:-5}"); do
        rate "$theirs" >>"$folder/theirs"
        rate "$ours" >>"$folder/ours"
    done
    paste "$folder/ours" "$folder/theirs" | awk '{ print $1 / $2 }' >"$folder/ratios"
    echo "$name: $(median <"$folder/ours") requests/s, nginx $(median <"$folder/theirs"), ratio $(median <"$folder/ratios")"
}
compare "a poster of 78 KB" "http://127.0.0.1:$port/poster.jpg" "http://127.0.0.1:$nginx_port/poster.jpg"
compare "/films/{id}" "http://127.0.0.1:$((port + 2))/films/film-77" "http://127.0.0.1:$nginx_port/films/film-77"
compare "/films?limit=20 of $films films" "http://127.0.0.1:$((port + 2))/films?limit=20" \
    "http://127.0.0.1:$nginx_port/page"
compare "a list as JSON" "$sample/films" "http://127.0.0.1:$nginx_port/list"
compare "a page as HTML" "$sample/films.html" "http://127.0.0.1:$nginx_port/list.html"
compare "a poster at a size" "$sample/films/metropolis/poster/w342" "http://127.0.0.1:$nginx_port/sized.jpg"
compare "a stored poster" "$sample/films/metropolis/poster" "http://127.0.0.1:$nginx_port/stored.jpg"
