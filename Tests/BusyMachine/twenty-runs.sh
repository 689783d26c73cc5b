#!/bin/bash
# Runs `swift test` repeatedly under the conditions of newcomers' machines: on a quiet machine; beside two
# busy loops; beside a release build of this package; and in the background of a script, without a terminal,
# where SIGINT, SIGQUIT and SIGHUP are ignored. Prints one line per run:
#
#     loops  3 of 5   61 s  failed  (status 1) a signal that the parent ignores stays ignored; ...
#
# Then it prints a summary. The status is 1 if any run failed. The output of a failed run is kept.
#
#     Tests/BusyMachine/twenty-runs.sh             5 runs of each kind
#     Tests/BusyMachine/twenty-runs.sh 2           2 runs of each kind
#     Tests/BusyMachine/twenty-runs.sh 5 quiet loops    5 runs of these kinds only
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${1:-5}
kinds=("${@:2}")
[ ${#kinds[@]} -gt 0 ] || kinds=(quiet loops build background)
case "$runs" in '' | *[!0-9]* | 0)
    echo "usage: $0 [RUNS [quiet|loops|build|background]...]" >&2
    exit 2
    ;;
esac
for kind in "${kinds[@]}"; do
    case "$kind" in quiet | loops | build | background) ;; *)
        echo "$0: there is no kind $kind; use quiet, loops, build or background" >&2
        exit 2
        ;;
    esac
done

logs=$(mktemp -d "${TMPDIR:-/tmp}/marquee-runs-XXXXXX")
load=()
# Ends the load. Each load has its own session: a build's compilers are in other process groups.
stop_load() {
    local session
    for session in ${load[@]+"${load[@]}"}; do
        while pkill -KILL --session "$session"; do sleep 0.1; done
    done
    load=()
}
finish() {
    stop_load
    rm -rf "$logs/release"
    # Only the logs of failed runs are left.
    rmdir "$logs" 2>/dev/null
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LINE: repeats a line of shell in the background until this script ends; $0 in it is the folder.
start() {
    setsid bash -c "while kill -0 $$; do $1; done" "$logs" >/dev/null 2>&1 </dev/null &
    load+=($!)
    # The shell prints nothing when it is killed.
    disown $!
}

# run_tests KIND LOG: returns the status of swift test.
run_tests() {
    if [ "$1" = background ]; then
        # A script's background job ignores SIGINT and SIGQUIT; nohup adds SIGHUP, and setsid removes the
        # terminal.
        setsid --wait bash -c '
            nohup swift test --skip-build >"$0" 2>&1 &
            wait $!' "$2" </dev/null
    else
        swift test --skip-build >"$2" 2>&1
    fi
}

# failed_tests LOG: the names of the failed tests, on one line.
failed_tests() {
    sed -nE 's/^.*✘ (Test|Suite) (".*") .*(recorded an issue|failed after).*$/\2/p' "$1" |
        sed -E 's/" (with|recorded) .*/"/' | sort -u | paste -sd ';' | sed 's/;/; /g'
}

swift build --build-tests >"$logs/build" 2>&1 || {
    cat "$logs/build" >&2
    exit 1
}
rm "$logs/build"

failures=0
count=0
for kind in "${kinds[@]}"; do
    for number in $(seq "$runs"); do
        case "$kind" in
        loops)
            start 'for ((turn = 0; turn < 1000000; turn++)); do :; done'
            start 'for ((turn = 0; turn < 1000000; turn++)); do :; done'
            ;;
        build) start 'rm -rf "$0/release"; swift build -c release --scratch-path "$0/release"' ;;
        esac
        log="$logs/$kind-$number"
        begin=$SECONDS
        run_tests "$kind" "$log"
        status=$?
        seconds=$((SECONDS - begin))
        stop_load
        count=$((count + 1))
        # A run with status 0 and without a summary has run no tests.
        if [ "$status" = 0 ] && grep -Eq 'Test run with [0-9]+ tests .*passed' "$log"; then
            printf '%-10s %d of %d  %4d s  passed\n' "$kind" "$number" "$runs" "$seconds"
            rm "$log"
        else
            failures=$((failures + 1))
            printf '%-10s %d of %d  %4d s  failed  (status %d) %s\n' \
                "$kind" "$number" "$runs" "$seconds" "$status" "$(failed_tests "$log")"
        fi
    done
done

if [ "$failures" -gt 0 ]; then
    echo "$failures of $count runs failed; their output is in $logs"
    exit 1
fi
echo "all $count runs passed"
