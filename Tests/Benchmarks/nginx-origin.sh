#!/bin/bash
# A real nginx on loopback with COUNT files of 60 KB, for marquee-bench fetch.
#   Tests/Benchmarks/nginx-origin.sh start [COUNT]   writes urls.txt (at once), delayed.txt (each answer 20 ms late),
#                                                    http2.txt (HTTP/2, for --cacert authority.pem)
#   Tests/Benchmarks/nginx-origin.sh stop
# Needs Debian's nginx-light, libnginx-mod-http-echo and openssl. Everything is in $TMPDIR/marquee-origin.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/marquee-origin
port=${PORT:-8099}

stop() {
    if [ -f "$folder/nginx.pid" ]; then kill "$(cat "$folder/nginx.pid")" 2>/dev/null || true; fi
}

case "${1:-}" in
stop) stop ;;
start)
    count=${2:-4000}
    stop
    rm -rf "$folder"
    mkdir -p "$folder/files"
    # Padded to 60,000 bytes after the poster's end: every file is a whole image of the same length.
    cp "$here/../../sample-data/posters/laborers-love.png" "$folder/poster.png"
    truncate --size=60000 "$folder/poster.png"
    for number in $(seq "$count"); do
        cp "$folder/poster.png" "$folder/files/$number.png"
        echo "http://127.0.0.1:$port/files/$number.png" >>"$folder/urls.txt"
        echo "http://127.0.0.1:$port/delayed/$number.png" >>"$folder/delayed.txt"
        echo "https://localhost:$((port + 1))/files/$number.png" >>"$folder/http2.txt"
    done
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$folder/key.pem" -out "$folder/authority.pem" 2>"$folder/error.log" ||
        { cat "$folder/error.log" >&2 && exit 1; }
    cat >"$folder/nginx.conf" <<CONF
load_module modules/ngx_http_echo_module.so;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_requests 1000000;
    open_file_cache max=10000;
    types { image/png png; }
    server {
        listen 127.0.0.1:$port;
        listen 127.0.0.1:$((port + 1)) ssl http2;
        ssl_certificate $folder/authority.pem;
        ssl_certificate_key $folder/key.pem;
        root $folder;
        location ~ ^/delayed/(.*)\$ {
            echo_sleep 0.020;
            echo_exec /files/\$1;
        }
    }
}
CONF
    nginx -p /usr/share/nginx -c "$folder/nginx.conf"
    echo "$folder/urls.txt"
    echo "$folder/delayed.txt"
    echo "$folder/http2.txt"
    ;;
*)
    sed -n 2,7p "$0"
    exit 2
    ;;
esac
