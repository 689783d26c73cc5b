#!/bin/bash
# Checks that nobody without a token writes to `marquee serve LIBRARY.db --writable`: directly, over a local socket, and
# behind nginx (plain, and with the usual fields) and HAProxy, which all make the connection local. Then that the own
# user's commands, curl with the token and a browser's session can write, and what --trust-local takes and refuses.
# Prints a line for each check. The status is 1 if one fails.
#
#     Tests/Faults/anonymous-writes.sh
#
# Needs nginx, haproxy and curl (Debian packages of these names), and a release build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null; done
    [ -f "$work/nginx.pid" ] && kill "$(cat "$work/nginx.pid")" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
failures=0
# check NAME WANTED GOT
check() {
    if [ "$2" = "$3" ]; then
        printf 'ok      %s: %s\n' "$1" "$3"
    else
        printf 'failed  %s: %s instead of %s\n' "$1" "$3" "$2"
        failures=$((failures + 1))
    fi
}
# serve NAME OPTION...: starts a service with a library of its own. Its address is in $address.
serve() {
    cp "$work/films.db" "$work/$1.db"
    exec {output}< <(exec "$marquee" serve "$work/$1.db" --writable "${@:2}" 2>"$work/$1.err")
    processes+=($!)
    read -r -t 30 address <&"$output" || { cat "$work/$1.err" >&2; exit 2; }
}
# post CURL-OPTION... URL: the status of a POST of a film.
post() { curl -s -o /dev/null -w '%{http_code}' --max-time 20 -d title=Faust -d year=1926 "$@"; }

"$marquee" import sample-data/movies.json "$work/films.db" >/dev/null || exit 2
serve plain
plain=${address%/}
port=${plain##*:}
# nginx runs as another user.
chmod 711 "$work"
serve socket --address "unix:$work/marquee.sock" --socket-mode 0666
serve public --public-url https://films.example.org --trusted-proxy 127.0.0.1/32
public=${address%/}
serve trusting --trust-local
trusting=${address%/}
serve trusting-socket --trust-local --address "unix:$work/trusting.sock"

first=$((port % 15000 + 12000))
ports=("$first" $((first + 1)) $((first + 2)) $((first + 3)) $((first + 4)) $((first + 5)))
fields='proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;'
cat >"$work/nginx.conf" <<CONF
worker_processes 1;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { worker_connections 256; }
http {
    access_log off;
    server { listen 127.0.0.1:${ports[0]}; location / { proxy_pass $plain; } }
    server { listen 127.0.0.1:${ports[1]}; location / { proxy_pass $plain; $fields } }
    server { listen 127.0.0.1:${ports[2]}; location / { proxy_pass http://unix:$work/marquee.sock:; } }
    server { listen 127.0.0.1:${ports[3]}; location / { proxy_pass $public; $fields } }
    server { listen 127.0.0.1:${ports[4]}; location / { proxy_pass $trusting; $fields } }
}
CONF
nginx -c "$work/nginx.conf" || exit 2
cat >"$work/haproxy.cfg" <<CONF
defaults
    mode http
    timeout connect 5s
    timeout client 20s
    timeout server 20s
listen films
    bind 127.0.0.1:${ports[5]}
    server one ${plain#http://}
CONF
haproxy -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
processes+=($!)
for port in "${ports[@]}"; do curl -s -o /dev/null --retry 20 --retry-connrefused --retry-delay 1 "http://127.0.0.1:$port/films"; done

# Without a token: 401 by every way.
ways=(
    "directly:$plain" "nginx, plain:http://127.0.0.1:${ports[0]}" "nginx, with fields:http://127.0.0.1:${ports[1]}"
    "nginx, to a local socket:http://127.0.0.1:${ports[2]}" "HAProxy:http://127.0.0.1:${ports[5]}"
)
for way in "${ways[@]}"; do
    url=${way#*:}
    check "POST ${way%%:*}" 401 "$(post "$url/films")"
    check "PUT ${way%%:*}" 401 "$(post -X PUT "$url/films/metropolis")"
    check "DELETE ${way%%:*}" 401 "$(post -X DELETE "$url/films/metropolis")"
    check "form ${way%%:*}" 401 "$(post "$url/add")"
    check "GET ${way%%:*}" 200 "$(curl -s -o /dev/null -w '%{http_code}' "$url/films/metropolis")"
done
check "POST to the local socket" 401 "$(post --unix-socket "$work/marquee.sock" http://localhost/films)"
check "POST behind the public address" 401 "$(post -H 'Host: films.example.org' "http://127.0.0.1:${ports[3]}/films")"

# With the token: the ways of the user.
token=$("$marquee" token "$plain/")
check "POST with the token" 201 "$(post -H "Authorization: Bearer $token" "$plain/films")"
check "POST with the token through nginx" 201 \
    "$(post -d id=another -H "Authorization: Bearer $token" "http://127.0.0.1:${ports[0]}/films")"
socket_token=$("$marquee" token "unix:$work/marquee.sock")
check "POST with the token to the local socket" 201 \
    "$(post -H "Authorization: Bearer $socket_token" --unix-socket "$work/marquee.sock" http://localhost/films)"
check "another service's token" 401 "$(post -H "Authorization: Bearer $socket_token" "$plain/films")"
run() { "$marquee" "$@" --catalogue "$plain/" >/dev/null 2>"$work/err" && echo done || head -n 1 "$work/err"; }
check "marquee add" "done" "$(run add --title Greed --year 1924)"
check "marquee rate" "done" "$(run rate metropolis 9 --as me)"
check "marquee edit" "done" "$(run edit metropolis --minutes 153)"
check "marquee remove" "done" "$(run remove greed-1924 --yes)"
curl -s -o /dev/null -c "$work/cookies" "$plain/login?token=$token"
check "form with a session" 303 "$(post -b "$work/cookies" -H "Origin: $plain" "$plain/add")"
check "form with a session, from another site" 403 "$(post -b "$work/cookies" -H 'Origin: http://evil.example' "$plain/add")"
check "form without the session" 401 "$(post -H "Origin: $plain" "$plain/add")"
# Another user has another state folder.
check "marquee rate of another user" "401 Unauthorized" \
    "$(XDG_STATE_HOME=$work/other run rate metropolis 1 --as me | grep -o '401 Unauthorized')"

# --trust-local
check "--trust-local, directly" 201 "$(post "$trusting/films")"
check "--trust-local, local socket" 201 "$(post --unix-socket "$work/trusting.sock" http://localhost/films)"
check "--trust-local, behind nginx with fields" 403 "$(post "http://127.0.0.1:${ports[4]}/films")"
for field in 'Forwarded: for=192.0.2.1' 'X-Forwarded-For: 192.0.2.1' 'X-Real-IP: 192.0.2.1' 'Via: 1.1 proxy'; do
    check "--trust-local, $field" 403 "$(post -H "$field" "$trusting/films")"
done
check "--trust-local says what it means" 1 "$(grep -c -- '--trust-local: every program on this machine' "$work/trusting.err")"
printf '%d failed\n' "$failures"
[ "$failures" = 0 ]
