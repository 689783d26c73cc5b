#!/bin/bash
# Builds the programs that `marquee-bench decode` compares PNG, WebP and GIF decoding with, in $TMPDIR/marquee-codecs.
# Needs Debian's libpng-dev, libwebp-dev, libgif-dev and a C compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/marquee-codecs
mkdir -p "$folder"
cc -O2 -o "$folder/png" "$here/libpng-decode.c" -lpng
cc -O2 -o "$folder/webp" "$here/libwebp-decode.c" -lwebp
cc -O2 -o "$folder/gif" "$here/giflib-decode.c" -lgif
echo "$folder"
