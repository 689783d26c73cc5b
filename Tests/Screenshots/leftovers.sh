#!/bin/bash
# Checks that the browser leaves nothing behind in real terminals. The screenshots of the shell's screen
# before and after it must be equal to the pixel: after quitting, a crash, and Ctrl-Z with fg. So must those
# of its first page before and after scrolling to the end and back, after a film's page and the wall, and
# after resizing the window.
#   Tests/Screenshots/leftovers.sh [TERMINAL[:GRAPHICS]...]
# Default: kitty, and xterm with sixels. PROGRAM and KEEP are as in pictures.sh. Status 1 if something is
# left.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/Tests/Screenshots/terminals.sh"
program=${PROGRAM:-$here/.build/release/marquee}
[ -x "$program" ] || fail "there is no $program; build it with: swift build -c release"
[ $# -gt 0 ] || set -- kitty:auto xterm-sixel:auto

# same WHAT A.png B.png
same() {
    local pixels
    pixels=$(compare -metric AE "$2" "$3" null: 2>&1 || true)
    if [ "${pixels%% *}" = 0 ]; then
        printf '%-28s %s: nothing is left\n' "$label" "$1"
    else
        printf '%-28s %s: failed, %s pixels differ\n' "$label" "$1" "$pixels"
        failures=$((failures + 1))
        [ -z "${KEEP:-}" ] || { cp "$2" "$KEEP/$name-$1-before.png" && cp "$3" "$KEEP/$name-$1-after.png"; }
    fi
}
# Lets the shell in the terminal continue with its next part.
go() { echo >"$work/go"; }
# The shell's screen, once a file says that the program has ended.
over() {
    until_true 300 test -e "$work/over" || fail "$label: $1 does not end the browser"
    rm -f "$work/over"
    still "$work/after.png"
    same "$1" "$work/before.png" "$work/after.png"
}

look() {
    local mode=$2
    name=$1
    label="$name --graphics $mode"
    is_installed "$name" || {
        printf '%-28s skipped: %s\n' "$label" "$missing"
        return
    }
    rm -f "$work/go" "$work/over" "$work/ready"
    mkfifo "$work/go"
    cat >"$work/run.sh" <<EOF
exec 2>'$work/messages'
set -m
cd '$here'
next() { read -r line <'$work/go'; }
seq -f 'line %g of the screen of the shell' 12
: >'$work/ready'
next
'$program' --graphics $mode
: >'$work/over'
next
sh -c 'echo \$\$ >"$work/pid"; exec "$program" --graphics $mode'
: >'$work/over'
next
'$program' --graphics $mode
: >'$work/over'
next
fg >'$work/messages'
: >'$work/over'
next
'$program' --graphics $mode
EOF
    start "$name" 100x34 "$work/run.sh"
    until_true 300 test -e "$work/ready" || fail "$name does not start: $(cat "$work/terminal")"
    # A cursor looks different when the pointer is elsewhere.
    press
    still "$work/before.png"
    go
    shown "$work/first.png"
    press G
    still "$work/page.png"
    differs "$work/first.png" "$work/page.png" || fail "$label: the page does not change at the key G"
    press g
    still "$work/page.png"
    same 'scrolling' "$work/first.png" "$work/page.png"
    # The film's page, and the other ways to list the films.
    press Return
    still "$work/page.png"
    differs "$work/first.png" "$work/page.png" || fail "$label: Return opens no page"
    press q v v v
    still "$work/page.png"
    same 'a page' "$work/first.png" "$work/page.png"
    press q
    over 'quitting'
    go
    shown "$work/page.png"
    kill -SEGV "$(cat "$work/pid")"
    over 'a crash'
    go
    shown "$work/page.png"
    press ctrl+z
    over 'Ctrl-Z'
    go
    shown "$work/page.png"
    press q
    over 'continuing'
    go
    # Last: resizing moves the shell's own screen, too.
    if [ "$name" != foot ]; then
        shown "$work/first.png"
        id=$(xdotool search --onlyvisible --class . | tail -n 1)
        size=$(window)
        width=${size%%x*}
        height=${size#*x}
        xdotool windowsize "$id" $((width * 3 / 4)) $((${height%%+*} * 3 / 4))
        still "$work/page.png"
        xdotool windowsize "$id" "$width" "${height%%+*}"
        still "$work/page.png"
        same 'resizing' "$work/first.png" "$work/page.png"
    fi
    stop
}

each "$@"
