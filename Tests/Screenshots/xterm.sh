#!/bin/bash
# A screenshot of the browser in a real xterm without a screen, after some keys:
#   Tests/Screenshots/xterm.sh OUT.png COLSxROWS [KEY...]
#   Tests/Screenshots/xterm.sh wall.png 200x60 v Next Next
# A key is an X keysym (j, slash, question, Return, Escape, Next). MARQUEE_ARGUMENTS are the program's own, and PROGRAM the
# program (default: the release build). Needs Debian's xvfb, xterm, xdotool, imagemagick and fonts-dejavu-core.
set -euo pipefail
[ $# -ge 2 ] || {
    sed -n 2,6p "$0"
    exit 2
}
out=$1
geometry=$2
shift 2
here=$(cd "$(dirname "$0")/../.." && pwd)
program=${PROGRAM:-$here/.build/release/marquee}
# Long enough for posters to come over the network and for a glide to end.
settle=${SETTLE:-1.5}
work=$(mktemp -d)
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap finish EXIT

# The server chooses a free display and says which.
Xvfb -displayfd 3 -screen 0 1920x1200x24 -nolisten tcp 3>"$work/display" 2>"$work/xvfb" &
processes+=($!)
for _ in $(seq 100); do
    [ -s "$work/display" ] && break
    sleep 0.1
done
DISPLAY=:$(cat "$work/display")
export DISPLAY

cd "$here"
# Words of the arguments are meant to be split.
# shellcheck disable=SC2086
LC_ALL=C.UTF-8 XDG_CACHE_HOME="${XDG_CACHE_HOME:-$work/cache}" xterm -geometry "$geometry+0+0" -fa 'DejaVu Sans Mono' \
    -fs 9 -bg black -fg gray90 -e "$program" ${MARQUEE_ARGUMENTS:-} &
processes+=($!)
sleep "$settle"
# Without a window manager keys go to the window under the pointer.
xdotool mousemove 100 100
for key in "$@"; do
    xdotool key "$key"
    sleep 0.3
done
sleep "$settle"
import -window "$(xdotool search --class xterm | tail -n 1)" "$out"
