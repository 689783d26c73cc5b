#!/bin/bash
# Checks the pictures of `marquee show` and of the browser in real terminals: prints how near their pixels are
# to the decoded file's (PSNR in dB). At least 30.
#   Tests/Screenshots/pictures.sh [TERMINAL[:GRAPHICS]...]
# Without arguments: all terminals with the protocols they support. PROGRAM is the program (default: the
# release build), FILE a JPEG file, KEEP a folder for the screenshots. Terminals that are not installed are
# skipped; status 1 if a picture fails.
#
# The reference is djpeg's picture, resized to the screen's pixels by ImageMagick's -scale, which averages
# areas. Both are independent of this project, so our decoding and scaling are checked too. The picture's
# position is where the screens before and after differ; the background is a colour that no poster has. In the
# browser it is the largest area of one colour where the film has a poster of that colour instead: beside the
# list, on the film's page and on the wall.
#
# Two terminals change a sixel themselves, and are not checked without being named: Konsole fills its last cell
# with black (konsole:sixel), and tmux scales it by up to three rows (tmux-sixel).
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/Tests/Screenshots/terminals.sh"
program=${PROGRAM:-$here/.build/release/marquee}
file=${FILE:-$here/sample-data/posters/metropolis.jpg}
[ -x "$program" ] || fail "there is no $program; build it with: swift build -c release"
command -v djpeg >/dev/null || fail 'djpeg is not installed (libjpeg-turbo-progs)'
[ $# -gt 0 ] || set -- kitty:auto kitty:kitty xterm-sixel:auto mlterm:auto mlterm:iterm2 mlterm:sixel konsole:auto \
    konsole:iterm2 foot:auto tmux-kitty:auto
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

# is_since VERSION OTHER: whether the other version is at least the first.
is_since() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

look() {
    local mode=$2
    name=$1
    label="$name --graphics $mode"
    missing=
    is_installed "$name" || {
        printf '%-32s skipped: %s\n' "$label" "$missing"
        return
    }
    case $name:$mode in
    tmux-kitty:auto)
        is_since 0.28 "$(kitty --version | cut -d' ' -f2)" || missing='placeholders came with kitty 0.28'
        ;;
    tmux-sixel:auto)
        is_since 3.4 "$(tmux -V | cut -d' ' -f2)" || missing='sixels came with tmux 3.4'
        ;;
    esac
    [ -z "$missing" ] || {
        printf '%-32s skipped: %s\n' "$label" "$missing"
        return
    }
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
    judge show "$(box "$work/before.png" "$work/after.png")" "$work/after.png"
    browse
}

# judge WHAT GEOMETRY SCREENSHOT: compares the picture there with the decoded file.
judge() {
    local figure least=30 verdict
    convert "$3" -crop "$2" +repage "$work/shown.png"
    convert "$work/decoded.ppm" -scale "${2%%+*}!" "$work/reference.png"
    figure=$(compare -metric PSNR "$work/reference.png" "$work/shown.png" null: 2>&1 || true)
    figure=${figure%% *}
    verdict="$figure dB, at least $least"
    if ! awk -v a="$figure" -v b="$least" 'BEGIN { exit !(a >= b) }'; then
        verdict="failed: $figure dB, not $least"
        failures=$((failures + 1))
    fi
    printf '%-32s %-5s %s; %s pixels\n' "$label" "$1" "$verdict" "${2%%+*}"
}

# film FOLDER: a catalogue of one film, whose poster is poster.jpg there.
film() {
    printf '{"name": "One", "movies": [{"id": "one", "title": "One", "year": 1927, "poster": "poster.jpg"}]}\n' \
        >"$1/movies.json"
}

# The browser's posters, each where the film has one of a single colour otherwise.
browse() {
    local poster page
    mkdir -p "$work/flat" "$work/real"
    convert -size "$(identify -format %wx%h "$file")" xc:'#ff00ff' -quality 95 "$work/flat/poster.jpg"
    cp "$file" "$work/real/poster.jpg"
    film "$work/flat"
    film "$work/real"
    for poster in flat real; do
        echo "cd '$work/$poster' && '$program' movies.json --graphics $mode"
    done >"$work/run.sh"
    start "$name" 120x40 "$work/run.sh"
    for poster in flat real; do
        shown "$work/$poster-list.png"
        press Return
        still "$work/$poster-page.png"
        press q
        press v v
        still "$work/$poster-wall.png"
        press q
    done
    stop
    for page in list page wall; do
        [ -z "${KEEP:-}" ] || cp "$work/real-$page.png" "$KEEP/$name-$mode-$page.png"
        judge "$page" "$(bands "$(largest "$work/flat-$page.png")")" "$work/real-$page.png"
    done
}

# bands GEOMETRY: without the last rows where the picture is a sixel. Its height is a multiple of 6, and the rows below it,
# five at most, have the colours of the cells.
bands() {
    local height=${1#*x}
    height=${height%%+*}
    case $name:$mode in
    *:sixel | xterm-sixel:auto | mlterm:auto | foot:auto | tmux-sixel:auto) height=$((height / 6 * 6)) ;;
    esac
    echo "${1%%x*}x$height+${1#*+}"
}

# largest SCREENSHOT: WIDTHxHEIGHT+X+Y of the largest area in the colour of the flat poster.
largest() {
    convert "$1" -fuzz 12% -fill white -opaque '#ff00ff' -fuzz 0% -fill black +opaque white -type bilevel \
        -define connected-components:verbose=true -connected-components 4 null: |
        awk '$NF ~ /255|white/ && $4 > most { most = $4; geometry = $2 } END { print geometry }'
}

each "$@"
