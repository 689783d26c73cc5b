#!/bin/bash
# Kills a process that writes into a library: at random moments, and before each system call of its writes.
# After every kill SQLite's own program checks the library: it must be intact, and have every acknowledged
# write.
#
#     Tests/Faults/library-kills.sh                    300 kills at random moments, then every call
#     KILLS=20 CALLS='pwrite64 fdatasync' Tests/Faults/library-kills.sh
#
# Needs sqlite3 and strace 6 (Debian: sqlite3, strace), and LibraryProbe, which swift build --build-tests
# makes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

kills=${KILLS:-300}
calls=${CALLS:-openat pread64 pwrite64 fdatasync ftruncate fcntl unlink mmap close fchown write}
probe=${PROBE:-$(swift build --show-bin-path)/LibraryProbe}
for tool in sqlite3 strace; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 2; }
done
[ -x "$probe" ] || { echo "$probe is missing: swift build --build-tests" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$work/films.db
export SWIFT_BACKTRACE=enable=no

failures=0
fail() {
    failures=$((failures + 1))
    printf 'failed: %s\n' "$1"
}

# Checks that the library is intact and has every acknowledged film. The probe's next write removes each film
# whose number is 2 modulo 3.
check() {
    local name=$1 found wanted number
    [ -s "$library" ] || {
        [ ! -s "$work/acknowledged" ] || fail "$name: no library"
        return
    }
    # A kill during the library's creation leaves it without a table.
    sqlite3 "$library" 'PRAGMA integrity_check' >"$work/integrity" 2>&1
    [ "$(cat "$work/integrity")" = ok ] || fail "$name: $(head -n 1 "$work/integrity")"
    [ -s "$work/acknowledged" ] || return
    sqlite3 "$library" 'SELECT f.id FROM films f JOIN posters p ON p.number = f.number WHERE length(p.bytes) = p.size' \
        | sort >"$work/found"
    # The last line may be incomplete.
    while read -r number; do
        [ $((number % 3)) = 2 ] || printf 'film-%s\n' "$number"
    done <"$work/acknowledged" | sort >"$work/wanted"
    found=$(comm -13 "$work/found" "$work/wanted" | head -n 3 | tr '\n' ' ')
    [ -z "$found" ] || fail "$name: acknowledged and not there: $found"
}

middle=0
for ((n = 1; n <= kills; n++)); do
    rm -f "$library"*
    "$probe" write "$library" film 100000 >"$work/acknowledged" 2>"$work/errors" &
    process=$!
    sleep "0.0$(printf '%03d' $((RANDOM % 300)))"
    sleep 0.0$((RANDOM % 10))
    kill -KILL "$process" 2>/dev/null && middle=$((middle + 1))
    wait "$process" 2>/dev/null
    check "kill $n"
done
printf '%d kills at random moments: %d while it ran\n' "$kills" "$middle"

for call in $calls; do
    runs=0
    for ((n = 1; n <= 1000; n++)); do
        rm -f "$library"*
        { timeout 60 strace -f -o "$work/trace" -e "trace=$call" \
            -e "inject=$call:signal=SIGKILL:when=$n" "$probe" write "$library" film 9 \
            >"$work/acknowledged" 2>"$work/errors" </dev/null; } 2>/dev/null
        status=$?
        runs=$((runs + 1))
        check "$call $n"
        # A run without a kill shows that there are no more of these calls.
        [ "$status" != 0 ] || break
    done
    printf '%-10s killed before each of %d calls\n' "$call" $((runs - 1))
done
[ "$failures" = 0 ]
