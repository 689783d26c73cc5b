#!/bin/bash
# Checks the pictures of `marquee show` in real terminals: prints how near their pixels are to the decoded
# file's (PSNR in dB). At least 30 for kitty's and iTerm2's protocols, 24 for sixels.
#   Tests/Screenshots/pictures.sh [TERMINAL[:GRAPHICS]...]
# Without arguments: all terminals with the protocols they support. PROGRAM is the program (default: the
# release build), FILE a JPEG file, KEEP a folder for the screenshots. Terminals that are not installed are
# skipped; status 1 if a picture fails.
#
# The reference is djpeg's picture, resized to the screen's pixels by ImageMagick's -scale, which averages
# areas. Both are independent of this project, so our decoding and scaling are checked too. The picture's
# position is where the screens before and after differ; the background is a colour that no poster has.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/Tests/Screenshots/terminals.sh"
program=${PROGRAM:-$here/.build/release/marquee}
file=${FILE:-$here/sample-data/posters/metropolis.jpg}
[ -x "$program" ] || fail "there is no $program; build it with: swift build -c release"
command -v djpeg >/dev/null || fail 'djpeg is not installed (libjpeg-turbo-progs)'
[ $# -gt 0 ] || set -- kitty:auto kitty:kitty xterm-sixel:auto mlterm:auto mlterm:iterm2 mlterm:sixel konsole:auto \
    konsole:iterm2 konsole:sixel foot:auto tmux-kitty:auto
djpeg -rgb "$file" >"$work/decoded.ppm"

# box BEFORE AFTER: WIDTHxHEIGHT+X+Y of the picture. It starts at the first row and column that differ, goes
# down as far as the first columns differ without a gap, and then right as far as these rows do.
box() {
    local all height
    convert "$1" "$2" -compose difference -composite -channel RGB -separate -evaluate-sequence max -threshold 0 "$work/mask.png"
    all=$(convert "$work/mask.png" -format '%@' info:)
    height=$(extent "16x${all#*x}" '1x!' 2)
    echo "$(extent "${all%%x*}x$height+${all#*+}" 'x1!' 1)x$height+${all#*+}"
}

# extent GEOMETRY SCALE FIELD: the number of rows or columns from the start that have a white pixel.
extent() {
    convert "$work/mask.png" -crop "$1" +repage -depth 16 -colorspace Gray -scale "$2" -threshold 0 txt:- >"$work/lines"
    awk -v field="$3" -F'[,: ]+' '/^[0-9]/ { if (/gray\(0\)|#000000|black/) { exit } number = $field + 1 } END { print number + 0 }' \
        "$work/lines"
}

look() {
    local name=$1 mode=$2 least label geometry figure
    label="$name --graphics $mode"
    is_installed "$name" || {
        printf '%-32s skipped: %s\n' "$label" "$missing"
        return
    }
    if [ "$name:$mode" = tmux-kitty:auto ] && [ "$(printf '0.28\n%s\n' "$(kitty --version | cut -d' ' -f2)" | sort -V | head -n 1)" != 0.28 ]; then
        printf '%-32s skipped: this kitty has no placeholders, which came with 0.28\n' "$label"
        return
    fi
    rm -f "$work/ready" "$work/go" "$work/done"
    mkfifo "$work/go"
    cat >"$work/run.sh" <<EOF
printf '\\033]11;#ff00ff\\007\\033[?25l\\033[2J\\033[H'
: >'$work/ready'
read -r line <'$work/go'
'$program' show '$file' --graphics $mode
: >'$work/done'
read -r line <'$work/go'
EOF
    start "$name" 80x40 "$work/run.sh"
    until_true 300 test -e "$work/ready" || fail "$name does not start: $(cat "$work/terminal")"
    still "$work/before.png"
    echo >"$work/go"
    until_true 300 test -e "$work/done" || fail "$label: show does not end"
    still "$work/after.png"
    stop
    [ -z "${KEEP:-}" ] || cp "$work/after.png" "$KEEP/$name-$mode.png"
    if ! differs "$work/before.png" "$work/after.png"; then
        printf '%-32s failed: nothing is drawn\n' "$label"
        failures=$((failures + 1))
        return
    fi
    geometry=$(box "$work/before.png" "$work/after.png")
    convert "$work/after.png" -crop "$geometry" +repage "$work/shown.png"
    convert "$work/decoded.ppm" -scale "${geometry%%+*}!" "$work/reference.png"
    figure=$(compare -metric PSNR "$work/reference.png" "$work/shown.png" null: 2>&1 || true)
    figure=${figure%% *}
    least=30
    case $name:$mode in *:sixel | xterm-sixel:auto | foot:auto) least=24 ;; esac
    if awk -v a="$figure" -v b="$least" 'BEGIN { exit !(a >= b) }'; then
        printf '%-32s %s dB, at least %s; %s pixels\n' "$label" "$figure" "$least" "${geometry%%+*}"
    else
        printf '%-32s failed: %s dB, not %s; %s pixels\n' "$label" "$figure" "$least" "${geometry%%+*}"
        failures=$((failures + 1))
    fi
}

failures=0
for word in "$@"; do
    mode=${word#*:}
    [ "$mode" != "$word" ] || mode=auto
    look "${word%%:*}" "$mode"
done
[ "$failures" = 0 ]
