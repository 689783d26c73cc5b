#!/bin/bash
# Fetches a poster of the sample catalogue repeatedly, and makes one system call fail each time, or three in a
# row: the first, the second, ... the 40th of a thread. Without a thread, a descriptor or memory the program
# may fail with an error. It must neither hang nor trap in its own code.
#
#     Tests/Faults/system-calls.sh                    all calls, with the release build
#     Tests/Faults/system-calls.sh eventfd2 clone3    these calls only
#     LAST=10 Tests/Faults/system-calls.sh            only the first ten of each
#     MARQUEE=.build/debug/marquee Tests/Faults/system-calls.sh
#
# Prints a line for each call, and one for each run that hung or trapped. Needs strace 6 (Debian: strace). A
# trap counts if the innermost frame outside the Swift runtime's failure functions is the program's. Other
# traps are not ours: in Dispatch, which traps without its first descriptors; in the C library; and in the
# Swift runtime when an object cannot be allocated.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
last=${LAST:-40}
limit=${LIMIT:-30}
command -v strace >/dev/null || { echo 'strace is missing' >&2; exit 2; }
[ -x "$marquee" ] || { echo "$marquee is missing: swift build -c release --product marquee" >&2; exit 2; }
marquee=$(realpath "$marquee")

declare -A errors=(
    [clone3]=EAGAIN [eventfd2]=EMFILE [pipe2]=EMFILE [socket]=EMFILE [openat]=EMFILE [mmap]=ENOMEM [timerfd_create]=EMFILE
    [epoll_create1]=EMFILE
)
calls=("$@")
[ ${#calls[@]} -gt 0 ] || calls=(clone3 eventfd2 pipe2 socket openat mmap timerfd_create)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The runtime's crash report takes seconds, and starts a process that gets the same failures.
export SWIFT_BACKTRACE=enable=no

# The frames of the first trap in the trace, one per line: the object's file and the function.
trap_frames() {
    awk '/^[0-9]+ +--- SIG(ILL|TRAP|SEGV|BUS|ABRT|FPE) / { if (seen++) exit; next }
         seen && /^ > / { sub(/^ > /, ""); print; next }
         seen && /^[0-9]+ / { exit }' "$1"
}

# Whether the trap is ours: the first frame outside the Swift runtime's failure functions is in the program.
is_ours() {
    awk -v program="$marquee" '
        /_assertionFailure|_fatalErrorMessage|swift_unexpectedError|swift_deletedMethodError|abort|raise|pthread_kill/ { next }
        { exit (index($0, program) == 1) ? 0 : 1 }
        END { if (NR == 0) exit 1 }' <<<"$1"
}

# fetch LIMIT CALL ERROR WHEN [-k]: one run with its own cache; returns its status.
fetch() {
    rm -rf "$work/cache"
    # In braces, so that the shell does not report the signal that ended the program.
    { timeout -k 5 "$1" strace -f --seccomp-bpf ${5:+"$5"} -o "$work/trace" -e "trace=$2" \
        -e signal=SIGILL,SIGTRAP,SIGSEGV,SIGBUS,SIGABRT,SIGFPE -e "inject=$2:error=$3:when=$4" \
        "$marquee" fetch metropolis --cache-dir "$work/cache" </dev/null >"$work/out" 2>&1; } 2>/dev/null
}

# The dynamic linker opens and maps the libraries with the main thread's first calls, and gives up at the
# first failure. So these calls are counted twice: from the first, and from the program's first.
linked() {
    strace -o "$work/trace" -e "trace=$1" "$marquee" --version >/dev/null 2>&1
    grep -c "^$1(" "$work/trace"
}

failures=0
for call in "${calls[@]}"; do
    error=${errors[$call]:?}
    numbers=$(seq "$last")
    case $call in mmap | openat) numbers+=" $(seq -s ' ' -f %.0f $(($(linked "$call") - 10)) $(($(linked "$call") + last)))" ;; esac
    declare -A count=([done]=0 [refused]=0 [killed]=0 [loader]=0)
    runs=0 hung=0 trapped=0 foreign=0 injected=0
    for n in $numbers; do
        for when in "$n" "$n..$((n + 2))"; do
            status=0
            runs=$((runs + 1))
            fetch "$limit" "$call" "$error" "$when" || status=$?
            grep -q INJECTED "$work/trace" && injected=$((injected + 1))
            case $status in
                0) count[done]=$((count[done] + 1)) ;;
                1 | 2) count[refused]=$((count[refused] + 1)) ;;
                # The dynamic linker gave up before the program started.
                127) count[loader]=$((count[loader] + 1)) ;;
                124 | 137)
                    hung=$((hung + 1))
                    printf 'hung: %s %s\n' "$call" "$when"
                    ;;
                *)
                    # Again, with the frames of every call, which is slow. A random trap may not happen again.
                    frames=
                    for _ in 1 2 3 4 5 6 7 8; do
                        fetch $((4 * limit)) "$call" "$error" "$when" -k
                        frames=$(trap_frames "$work/trace")
                        [ -z "$frames" ] || break
                    done
                    if [ -z "$frames" ] || is_ours "$frames"; then
                        trapped=$((trapped + 1))
                        printf 'trapped: %s %s (status %s)\n%s\n' "$call" "$when" "$status" "$(head -n 4 <<<"$frames")"
                    else
                        foreign=$((foreign + 1))
                        if [ -n "${VERBOSE:-}" ]; then
                            printf 'not ours: %s %s\n%s\n' "$call" "$when" "$(head -n 8 <<<"$frames")"
                        fi
                    fi
                    ;;
            esac
        done
    done
    failures=$((failures + hung + trapped))
    printf '%-15s %s: %d runs, %d refused by the system, %d fetched, %d errors, %d not started, %d traps of others, ' \
        "$call" "$error" "$runs" "$injected" "${count[done]}" "${count[refused]}" "${count[loader]}" "$foreign"
    printf '%d traps of ours, %d hung\n' "$trapped" "$hung"
done
[ "$failures" = 0 ]
