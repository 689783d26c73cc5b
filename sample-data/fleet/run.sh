#!/bin/bash
# Starts a fleet on one machine: N instances of the picture service, the store that they share, and a balancer. Prints the
# balancer's address. Ctrl-C ends everything.
#
#   sample-data/fleet/run.sh N [nginx|haproxy] [-- OPTION...]      OPTION: of marquee serve, such as --source HOST
#
# Needs nginx, which is also the store, and HAProxy for the balancer haproxy. Uses the program named by MARQUEE, or builds it.
# All files are in a new folder in TMPDIR, which is removed at the end.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/fleet.bash"

count=${1:-}
case $count in
    '' | *[!0-9]* | 0*) printf 'usage: run.sh N [nginx|haproxy] [-- OPTION...]\n' >&2; exit 2 ;;
esac
shift
kind=nginx
case ${1:---} in
    --) ;;
    *) kind=$1; shift ;;
esac
if [ "${1:-}" = -- ]; then shift; elif [ $# != 0 ]; then
    printf 'usage: run.sh N [nginx|haproxy] [-- OPTION...]\n' >&2
    exit 2
fi

trap fleet_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fleet_begin "$kind"
fleet_store
instances=$(seq "$count")
for instance in $instances; do fleet_instance "$instance" "$@"; done
for instance in $instances; do fleet_ready "$instance"; done
fleet_balance $instances
printf '%s\n' "$fleet_address"
for instance in $instances; do printf '%s\n' "${fleet_admin[$instance]}"; done >"$fleet_folder/members"
{
    printf 'instances: %s; the store: %s\n' "$count" "$fleet_store_address"
    printf 'remove a picture: marquee purge URL --admin-file %s\n' "$fleet_folder/members"
    printf 'end: Ctrl-C\n'
} >&2

# If an instance ends, says so; the others go on.
while [ "${#fleet_process[@]}" != 0 ]; do
    status=0
    wait -n -p ended "${fleet_process[@]}" "$fleet_balancer" "$fleet_store_process" || status=$?
    if [ "$ended" = "$fleet_balancer" ]; then fleet_fail "$kind has ended with status $status"; fi
    if [ "$ended" = "$fleet_store_process" ]; then fleet_fail "the store has ended with status $status"; fi
    for instance in "${!fleet_process[@]}"; do
        [ "${fleet_process[$instance]}" != "$ended" ] || {
            printf 'instance %s has ended with status %s\n' "$instance" "$status" >&2
            unset "fleet_process[$instance]"
        }
    done
done
fleet_fail 'no instance is left'
