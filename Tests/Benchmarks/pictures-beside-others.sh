#!/bin/bash
# Compares the picture service with thumbor in two processes and nginx's image_filter in one worker (cold,
# distinct pictures), and with nginx's proxy_cache in two workers (warm pictures). Prints pictures per second
# over 32 and 64 connections (wrk), measured in turn, and their ratios. FILTER_WORKERS=2 gives image_filter
# both cores.
#   Tests/Benchmarks/pictures-beside-others.sh [PICTURES]      the number of distinct posters (3600)
# Prints medians of RUNS rounds (3). Needs Debian's nginx-light, libnginx-mod-http-image-filter and wrk, and a
# release build. THUMBOR names thumbor (python3 -m venv V; V/bin/pip install thumbor; THUMBOR=V/bin/thumbor).
# Missing servers are skipped. All files are in $TMPDIR/marquee-pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
pictures=${1:-3600}
folder=${TMPDIR:-/tmp}/marquee-pictures
marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
thumbor=${THUMBOR:-$(command -v thumbor || true)}
port=${PORT:-8097}
origin=$((port + 1)) filter=$((port + 2)) cache=$((port + 3)) thumb=$((port + 4))
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    for server in nginx filter; do
        if [ -f "$folder/$server.pid" ]; then kill "$(cat "$folder/$server.pid")" 2>/dev/null || true; fi
    done
}
trap finish EXIT

# Distinct files: sixteen bytes after each picture's end change its content. Decoders ignore them.
mkdir -p "$folder/files"
rm -rf "$folder"/cache-* "$folder/nginx-cache"
posters=(sample-data/posters/*.jpg)
for ((n = 0; n < pictures; n++)); do
    file="$folder/files/$n.jpg"
    [ -f "$file" ] || { cat "${posters[n % ${#posters[@]}]}"; printf '%016d' "$n"; } >"$file"
done
module=/usr/lib/nginx/modules/ngx_http_image_filter_module.so
cat >"$folder/nginx.conf" <<CONF
worker_processes 2;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    types { image/jpeg jpg; }
    proxy_cache_path $folder/nginx-cache keys_zone=pictures:10m;
    server { listen 127.0.0.1:$origin; root $folder/files; add_header Cache-Control max-age=3600; }
    server { listen 127.0.0.1:$cache; location / { proxy_pass http://127.0.0.1:$port; proxy_cache pictures; proxy_http_version 1.1; } }
}
CONF
nginx -c "$folder/nginx.conf"
if [ -f $module ]; then
    cat >"$folder/filter.conf" <<CONF
load_module $module;
worker_processes ${FILTER_WORKERS:-1};
pid $folder/filter.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    server { listen 127.0.0.1:$filter; root $folder/files;
        location / { image_filter resize 342 513; image_filter_jpeg_quality 80; image_filter_buffer 10M; } }
}
CONF
    nginx -c "$folder/filter.conf"
fi

# The paths of the pictures, one per line, and a wrk script that requests each once.
encoded() { basenc --base64url -w0 | tr -d =; }
for ((n = 0; n < pictures; n++)); do
    echo "/image/-/342x513/$(printf 'http://127.0.0.1:%s/%d.jpg' "$origin" "$n" | encoded)"
done >"$folder/paths-marquee"
seq 0 $((pictures - 1)) | sed 's|.*|/&.jpg|' >"$folder/paths-filter"
seq 0 $((pictures - 1)) | sed "s|.*|/unsafe/fit-in/342x513/filters:quality(80)/127.0.0.1:$origin/&.jpg|" >"$folder/paths-thumbor"
cat >"$folder/once.lua" <<'LUA'
local paths, next = {}, 0
function init(arguments)
    for line in io.lines(arguments[1]) do paths[#paths + 1] = line end
    limit = tonumber(arguments[2]) or #paths
end
function request()
    next = next + 1
    return wrk.format("GET", paths[(next - 1) % limit + 1])
end
LUA

# Each round has a new folder: ext4 is slow for five seconds after many files were removed, because it looks
# for inodes that are not just freed.
rounds=0
serve() {
    rounds=$((rounds + 1))
    "$marquee" --cache-dir "$folder/cache-marquee-$rounds" serve "$folder/files" --port "$port" --source "127.0.0.1:$origin" \
        --allow-private 127.0.0.0/8 --sizes 342x513 >"$folder/out" 2>&1 &
    processes+=($!)
    serving=$!
    for _ in $(seq 100); do curl -so /dev/null "http://127.0.0.1:$port/" && break; sleep 0.1; done
}
# Kills the children too: thumbor has one per process.
stop() {
    pkill -P "$1" 2>/dev/null || true
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}
# Pictures per second, without failed requests.
rate() {
    awk '/requests in/ { all = $1; time = $4 + 0 } /Non-2xx/ { bad = $NF }
        END { print (all - bad) / time; if (bad) print "not answered 2xx: " bad > "/dev/stderr" }'
}
median() { sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
# Cold pictures for a few seconds, fewer than there are, so that none is requested twice.
cold() { wrk -t1 -c32 -d"${COLD_SECONDS:-5}" -s "$folder/once.lua" "http://127.0.0.1:$1" -- "$folder/$2" | rate; }

for file in ours thumbor filter; do : >"$folder/$file"; done
for _ in $(seq "${RUNS:-3}"); do
    serve
    cold "$port" paths-marquee >>"$folder/ours"
    stop "$serving"
    if [ -n "$thumbor" ]; then
        cat >"$folder/thumbor.conf" <<CONF
STORAGE = 'thumbor.storages.no_storage'
RESULT_STORAGE = 'thumbor.result_storages.no_storage'
HTTP_LOADER_MAX_CONN_PER_SECOND = 0
CONF
        "$thumbor" --processes 2 --port "$thumb" --ip 127.0.0.1 --conf "$folder/thumbor.conf" >"$folder/out-thumbor" 2>&1 &
        processes+=($!)
        running=$!
        for _ in $(seq 100); do curl -so /dev/null "http://127.0.0.1:$thumb/healthcheck" && break; sleep 0.1; done
        cold "$thumb" paths-thumbor >>"$folder/thumbor"
        stop "$running"
    fi
    if [ -f $module ]; then cold "$filter" paths-filter >>"$folder/filter"; fi
done
echo "cold pictures: $(median <"$folder/ours")/s"
for other in thumbor filter; do
    if [ -s "$folder/$other" ]; then
        ratio=$(paste "$folder/ours" "$folder/$other" | awk '{ print $1 / $2 }' | median)
        echo "  $other: $(median <"$folder/$other")/s, ratio $ratio"
    else
        echo "  $other: skipped, it is not installed"
    fi
done

serve
hot=100
head -n $hot "$folder/paths-marquee" | sed "s|^|http://127.0.0.1:$port|" | xargs -P4 -n1 curl -sfo /dev/null
warm() { wrk -t1 -c64 -d"${SECONDS_EACH:-3}" -s "$folder/once.lua" "http://127.0.0.1:$1" -- "$folder/paths-marquee" $hot | rate; }
warm "$cache" >/dev/null
for file in ours cache; do : >"$folder/$file"; done
for _ in $(seq "${RUNS:-3}"); do
    warm "$cache" >>"$folder/cache"
    warm "$port" >>"$folder/ours"
done
ratio=$(paste "$folder/ours" "$folder/cache" | awk '{ print $1 / $2 }' | median)
echo "warm pictures: $(median <"$folder/ours")/s, proxy_cache $(median <"$folder/cache")/s, ratio $ratio"
