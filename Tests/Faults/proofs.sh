#!/bin/bash
# Runs the benchmarks that pass or fail: kills, overload and memory pressure. Prints their figures; the status is 1
# if one misses what it must be. Takes some minutes.
#
#     Tests/Faults/proofs.sh          after swift build -c release, from the package's folder
#     Tests/Faults/proofs.sh quick    fewer kills: two minutes
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bench=.build/release/marquee-bench
[ -x "$bench" ] || {
    echo "$0: there is no $bench; build it with swift build -c release" >&2
    exit 2
}
case "${1:-}" in
quick) kills=50 seconds=10 ;;
'') kills=1000 seconds=30 ;;
*)
    echo "usage: $0 [quick]" >&2
    exit 2
    ;;
esac

failed=()
prove() {
    echo "== $*"
    "$bench" "$@" || failed+=("$1")
}
prove kill "$kills"
prove overload --seconds "$seconds"
prove pressure

if [ ${#failed[@]} -gt 0 ]; then
    echo "these failed: ${failed[*]}"
    exit 1
fi
echo "all three hold"
