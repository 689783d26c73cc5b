#!/bin/bash
# A screenshot of the browser in a real terminal without a screen, after some keys:
#   Tests/Screenshots/browser.sh TERMINAL OUT.png COLSxROWS [KEY...]
#   Tests/Screenshots/browser.sh kitty wall.png 120x40 v Next Next
# TERMINAL is one of those in terminals.sh; a key is an X keysym (j, slash, question, Return, Escape, Next).
# MARQUEE_ARGUMENTS are the program's own, and PROGRAM the program (default: the release build). Waits for the screen to come
# to rest after the start and after each key.
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
# The terminal's window alone.
convert "$work/shot.png" -crop "$(window)" +repage -strip "$out"
