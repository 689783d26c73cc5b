#!/bin/bash
# Kills `marquee serve LIBRARY.db --writable` before each system call of a write: the first, the second, ...
# of a thread. A write that was answered with 2xx must be in the library afterwards, and the library must be
# intact.
#
#     Tests/Faults/service-writes.sh                     all calls, with the release build
#     Tests/Faults/service-writes.sh pwrite64 fdatasync  these calls only
#     LAST=10 Tests/Faults/service-writes.sh             only the first ten of each
#
# Continues with the next call after three runs in a row without a kill.
#
# Prints a line for each call. Needs strace 6, curl and sqlite3 (Debian packages of these names).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
last=${LAST:-500}
for program in strace curl sqlite3; do
    command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 2; }
done
[ -x "$marquee" ] || { echo "$marquee is missing: swift build -c release --product marquee" >&2; exit 2; }
calls=("$@")
[ ${#calls[@]} -gt 0 ] || calls=(openat fstat fcntl pread64 pwrite64 fdatasync fsync ftruncate mmap lseek recvfrom sendto futex)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SWIFT_BACKTRACE=enable=no
echo '[{"id": "first", "title": "First"}]' >"$work/films.json"
"$marquee" import "$work/films.json" "$work/whole.db" >/dev/null || exit 2

faults=0 kills=0 answered=0 misses=0
# try CALL WHEN: one write. The service is killed before this call of any thread.
try() {
    rm -f "$work"/films.db*
    cp "$work/whole.db" "$work/films.db"
    : >"$work/out"
    # Without --seccomp-bpf, which does not count the calls of threads that start later.
    strace -f -o "$work/trace" -e "trace=$1" -e "inject=$1:signal=SIGKILL:when=$2" \
        "$marquee" serve "$work/films.db" --writable --trust-local >"$work/out" 2>"$work/err" &
    local tracer=$! status=000 address='' count
    # The shell does not report its end.
    disown "$tracer"
    while kill -0 "$tracer" 2>/dev/null; do
        address=$(head -1 "$work/out")
        [ -n "$address" ] && break
        sleep 0.01
    done
    if [ -n "$address" ]; then
        status=$(curl -s -o /dev/null -w '%{http_code}' --max-time 10 -X PUT -H 'Content-Type: application/json' \
            -d '{"title": "Second", "year": 1922}' "${address}films/second")
    fi
    # Stops a service that was not killed.
    pkill -TERM -P "$tracer" 2>/dev/null
    while kill -0 "$tracer" 2>/dev/null; do sleep 0.01; done
    if grep -q 'killed by SIGKILL' "$work/trace"; then
        kills=$((kills + 1))
        misses=0
    else
        misses=$((misses + 1))
    fi
    [ "$(sqlite3 "$work/films.db" 'PRAGMA integrity_check' 2>&1)" = ok ] || fault "$1 $2: the library is damaged"
    count=$("$marquee" list --plain --catalogue "$work/films.db" 2>&1 | wc -l)
    case $status in
    2*)
        answered=$((answered + 1))
        [ "$count" = 2 ] || fault "$1 $2: a write that was answered $status is lost"
        ;;
    *) [ "$count" = 1 ] || [ "$count" = 2 ] || fault "$1 $2: the library does not open" ;;
    esac
}
fault() {
    echo "$1"
    faults=$((faults + 1))
}
for call in "${calls[@]}"; do
    before=$kills
    misses=0
    # Three runs without a kill: no thread makes that many calls.
    for when in $(seq "$last"); do
        try "$call" "$when"
        [ "$misses" -lt 3 ] || break
    done
    echo "$call: $((kills - before)) kills"
done
echo "$kills kills, $answered writes answered, $faults faults"
[ "$faults" = 0 ]
