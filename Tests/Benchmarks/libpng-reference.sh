#!/bin/bash
# Builds the libpng program that `marquee-bench decode` compares PNG decoding with, in $TMPDIR/marquee-libpng.
# Needs Debian's libpng-dev and a C compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/marquee-libpng
mkdir -p "$folder"
cc -O2 -o "$folder/decode" "$here/libpng-decode.c" -lpng
echo "$folder/decode"
