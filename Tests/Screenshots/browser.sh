#!/bin/bash
# A screenshot of the browser in a real terminal on a virtual display, after some keys:
#   Tests/Screenshots/browser.sh TERMINAL OUT.png COLSxROWS [KEY...]
#   Tests/Screenshots/browser.sh kitty wall.png 120x40 v Next Next
# TERMINAL is a name from terminals.sh; a key is an X keysym (j, slash, question, Return, Escape, Next).
# MARQUEE_ARGUMENTS are the program's arguments, and PROGRAM is the program (default: the release build). The
# script waits until the screen is still, after the start and after each key.
set -euo pipefail
[ $# -ge 3 ] || {
    sed -n 2,7p "$0"
    exit 2
}
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/Tests/Screenshots/terminals.sh"
program=${PROGRAM:-$here/.build/release/marquee}
name=$1
out=$2
geometry=$3
shift 3
is_installed "$name" || fail "$missing"

printf "cd '%s'\nexec '%s' %s\n" "$here" "$program" "${MARQUEE_ARGUMENTS:-}" >"$work/run.sh"
start "$name" "$geometry" "$work/run.sh"
shown "$work/shot.png"
for key in "$@"; do
    press "$key"
    still "$work/shot.png"
done
# Only the terminal's window.
convert "$work/shot.png" -crop "$(window)" +repage -strip "$out"
