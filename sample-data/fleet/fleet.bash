# Functions that start a fleet on one machine: a store, instances of `marquee serve`, and a balancer. run.sh uses them, and so
# do tests and benchmarks that end and add instances.
#
#   fleet_begin nginx|haproxy      creates the scratch folder
#   fleet_store                    starts the store
#   fleet_instance I [OPTION...]   starts instance I, on its old ports if it ran before; does not wait
#   fleet_ready I                  waits until it is ready
#   fleet_balance I...             makes the balancer use these instances; starts it the first time
#   fleet_end                      ends everything and removes the scratch folder
#
# Variables: fleet_address and fleet_store_address, the URLs of the balancer and the store; fleet_admin[I], the health address of
# instance I; fleet_process[I], its process; fleet_folder, the scratch folder.

fleet_configurations=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fleet_films=${fleet_configurations%/*}
declare -A fleet_process=() fleet_port=() fleet_admin=()
fleet_nginx='daemon off;' fleet_folder= fleet_kind= fleet_balancer= fleet_store_process= fleet_last_port=0

fleet_fail() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit 1
}

# Sets free_port to a free port of 127.0.0.1, below the ports that the system gives to clients.
fleet_free_port() {
    [ "$fleet_last_port" != 0 ] || fleet_last_port=$((12000 + $$ % 800 * 24))
    for _ in $(seq 1000); do
        fleet_last_port=$((fleet_last_port >= 32000 ? 12000 : fleet_last_port + 1))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$fleet_last_port") 2>/dev/null; then
            free_port=$fleet_last_port
            return
        fi
    done
    fleet_fail 'no port of 127.0.0.1 is free from 12000 to 32000'
}

# fleet_wait_for PROCESS PORT NAME LOG: waits until the process listens at the port; fails if it ends.
fleet_wait_for() {
    for _ in $(seq 600); do
        kill -0 "$1" 2>/dev/null || fleet_fail "$3 does not start: $(tail -n 1 "$4")"
        if (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; then return; fi
        sleep 0.1
    done
    fleet_fail "$3 did not listen at port $2 within a minute; see $4"
}

fleet_begin() {
    local missing=()
    fleet_kind=$1
    case $fleet_kind in nginx | haproxy) ;; *) fleet_fail "the balancer is nginx or haproxy, not \"$1\"" ;; esac
    # Debian installs them in folders that only root's PATH has. FLEET_PROGRAMS names other folders.
    PATH=$PATH:${FLEET_PROGRAMS:-/usr/sbin:/sbin}
    command -v nginx >/dev/null || missing+=(nginx)
    if [ "$fleet_kind" = haproxy ] && ! command -v haproxy >/dev/null; then missing+=(haproxy); fi
    [ "${#missing[@]}" = 0 ] || fleet_fail "${missing[*]} is missing; install it with: apt-get install ${missing[*]}"
    nginx -V 2>&1 | grep -q http_dav_module || fleet_fail 'this nginx has no DAV module; install it with: apt-get install nginx'
    if [ -z "${MARQUEE:-}" ]; then
        swift build -c release --product marquee --package-path "${fleet_films%/*}" >&2 \
            || fleet_fail 'marquee cannot be built; name the program with MARQUEE=/path/to/marquee'
        MARQUEE=$(swift build -c release --package-path "${fleet_films%/*}" --show-bin-path)/marquee
    fi
    [ -x "$MARQUEE" ] || fleet_fail "there is no program $MARQUEE; name it with MARQUEE=/path/to/marquee"
    fleet_folder=$(mktemp -d "${TMPDIR:-/tmp}/marquee-fleet.XXXXXX")
    mkdir "$fleet_folder/store"
    # If root starts nginx, its workers run as another user, who cannot open the folder.
    [ "$(id -u)" != 0 ] || fleet_nginx+=' user root;'
    (umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$fleet_folder/shared-key")
}

fleet_store() {
    fleet_free_port
    sed "s/127\.0\.0\.1:8300/127.0.0.1:$free_port/" "$fleet_configurations/store.conf" >"$fleet_folder/store.conf"
    nginx -p "$fleet_folder" -e stderr -c store.conf -g "$fleet_nginx" >"$fleet_folder/store.log" 2>&1 &
    fleet_store_process=$!
    fleet_wait_for "$fleet_store_process" "$free_port" 'the store' "$fleet_folder/store.log"
    fleet_store_address=http://127.0.0.1:$free_port/
}

fleet_instance() {
    local instance=$1 shared=()
    shift
    if [ -z "${fleet_port[$instance]:-}" ]; then
        fleet_free_port
        fleet_port[$instance]=$free_port
        fleet_free_port
        fleet_admin[$instance]=127.0.0.1:$free_port
    fi
    [ -z "$fleet_store_process" ] \
        || shared=(--shared "$fleet_store_address" --shared-key-file "$fleet_folder/shared-key")
    "$MARQUEE" serve "$fleet_films" --cache-dir "$fleet_folder/cache-$instance" --port "${fleet_port[$instance]}" \
        --admin "${fleet_admin[$instance]}" --drain 2 --trusted-proxy 127.0.0.1/32 "${shared[@]}" "$@" \
        >>"$fleet_folder/instance-$instance.log" 2>&1 &
    fleet_process[$instance]=$!
}

fleet_ready() {
    local log=$fleet_folder/instance-$1.log line
    fleet_wait_for "${fleet_process[$1]}" "${fleet_admin[$1]##*:}" "instance $1" "$log"
    for _ in $(seq 600); do
        kill -0 "${fleet_process[$1]}" 2>/dev/null || fleet_fail "instance $1 does not start: $(tail -n 1 "$log")"
        if exec 3<>"/dev/tcp/127.0.0.1/${fleet_admin[$1]##*:}"; then
            printf 'GET /health/ready HTTP/1.0\r\n\r\n' >&3
            read -r -t 5 line <&3 || line=
            exec 3>&-
            case $line in *' 200 '*) return ;; esac
        fi 2>/dev/null
        sleep 0.1
    done
    fleet_fail "instance $1 was not ready within a minute; see $log"
}

# Prints the configuration, with a line for each instance in place of the lines with 127.0.0.1:8101 to 8109.
fleet_configuration() {
    local line instance
    while IFS= read -r line; do
        case $line in
            *127.0.0.1:8101*)
                for instance in "$@"; do
                    printf '%s\n' "$line" | sed -e "s/127\.0\.0\.1:8101/127.0.0.1:${fleet_port[$instance]}/" \
                        -e "s/port 8201/port ${fleet_admin[$instance]##*:}/" \
                        -e "s/instance-1/instance-$instance/g" -e "s/ id 1\$/ id $instance/"
                done
                ;;
            *127.0.0.1:810[2-9]*) ;;
            *) printf '%s\n' "${line/127.0.0.1:8100/127.0.0.1:$fleet_balancer_port}" ;;
        esac
    done
}

fleet_balance() {
    local log=$fleet_folder/balancer.log
    if [ -z "$fleet_balancer" ]; then
        fleet_free_port
        fleet_balancer_port=$free_port
        fleet_address=http://127.0.0.1:$free_port/
    fi
    if [ "$fleet_kind" = nginx ]; then
        fleet_configuration "$@" <"$fleet_configurations/nginx.conf" >"$fleet_folder/balancer.conf"
        if [ -n "$fleet_balancer" ]; then
            # New workers take over; the old ones finish their requests.
            kill -HUP "$fleet_balancer"
            return
        fi
        nginx -p "$fleet_folder" -e stderr -c balancer.conf -g "$fleet_nginx" >"$log" 2>&1 &
    else
        fleet_configuration "$@" <"$fleet_configurations/haproxy.cfg" >"$fleet_folder/balancer.conf"
        if [ -n "$fleet_balancer" ]; then
            # The master starts a process with the new configuration, which takes over the listening socket.
            kill -USR2 "$fleet_balancer"
            return
        fi
        # -W: a master process, which replaces its worker without refusing a connection.
        haproxy -W -f "$fleet_folder/balancer.conf" >"$log" 2>&1 &
    fi
    fleet_balancer=$!
    fleet_wait_for "$fleet_balancer" "$fleet_balancer_port" "$fleet_kind" "$log"
}

# Ends the balancer first, so that the instances have no requests to finish.
fleet_end() {
    local process processes=(${fleet_balancer:-} ${fleet_store_process:-} "${fleet_process[@]}")
    trap '' INT TERM
    for process in "${processes[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
    for _ in $(seq 200); do
        kill -0 "${processes[@]}" 2>/dev/null || break
        sleep 0.1
    done
    for process in "${processes[@]}"; do kill -KILL "$process" 2>/dev/null || true; done
    wait "${processes[@]}" 2>/dev/null || true
    [ -z "$fleet_folder" ] || rm -rf "$fleet_folder"
}
