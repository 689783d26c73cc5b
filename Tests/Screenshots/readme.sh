#!/bin/bash
# Makes the README's pictures, .github/*.png, of the sample catalogue: the list, the wall and a film's page in
# kitty, and the wall in xterm with block characters. Each is taken once the screen is still, so that every
# run gives the same ones.
#   Tests/Screenshots/readme.sh [FOLDER]
# PROGRAM is the program (default: the release build). The keys open the pages.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$here/.github}
mkdir -p "$folder"
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
shot() {
    local name=$1
    shift
    "$here/Tests/Screenshots/browser.sh" "$@"
    # A palette makes the file a third as large. No date and no name of the machine stay in it.
    convert "$folder/$name.png" -dither None -colors 256 -strip -define png:exclude-chunks=date,time "$folder/$name.png"
    printf '%s, %s bytes\n' "$folder/$name.png" "$(stat -c %s "$folder/$name.png")"
}
shot list kitty "$folder/list.png" 120x40 j j
shot wall kitty "$folder/wall.png" 120x40 ${WALL_KEYS:-v v} Right Down
shot film kitty "$folder/film.png" 120x40 G Return
MARQUEE_ARGUMENTS='--graphics blocks' shot blocks xterm "$folder/blocks.png" 120x40 ${WALL_KEYS:-v v} Right Down
