#!/bin/bash
# Feeds a decoder with libFuzzer's bytes, for SECONDS (default 1800):
#   Tests/Fuzzing/run.sh JPEG|PNG|PNGRows|WebP|GIF|BMP|Header|Profile [SECONDS]
#   Tests/Fuzzing/run.sh JPEG FILE              repeats one input, as a finding left it
# The seeds are the tests' stored pictures. Findings and the corpus are kept in $TMPDIR/marquee-fuzzing. A
# finding becomes a named array of bytes in Tests/ImageCodecsTests.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
target=${1:?name a target: JPEG, PNG, PNGRows, WebP, GIF, BMP, Header or Profile}
[ -f "$here/${target}Target.swift" ] || { echo "no such target: $target" >&2; exit 2; }
folder=${TMPDIR:-/tmp}/marquee-fuzzing/$target
mkdir -p "$folder/corpus" "$folder/seeds" "$folder/findings"

# Target and decoders are one module, so that a target can correct the checksums before the code it tests. The package
# manager would make one of Locking, and an array of each table.
rm -rf "$folder/sources"
mkdir "$folder/sources"
cp -r "$root/Sources/ImageCodecs" "$root/Sources/Locking" "$folder/sources"
{
    echo 'enum PackageResources {'
    for table in "$root"/Sources/ImageCodecs/WebP/Tables/*.txt; do
        echo "static let $(basename "$table" .txt)_txt: [UInt8] = [$(od -An -v -tu1 "$table" | tr -s ' \n' ',' | sed 's/^,//')]"
    done
    echo '}'
} >"$folder/sources/PackageResources.swift"
mapfile -t sources < <(find "$folder/sources" -name '*.swift')
sed -i '/^internal import Locking/d' "${sources[@]}"
swiftc -O -sanitize=fuzzer,address -parse-as-library -swift-version 6 -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature InternalImportsByDefault -package-name marquee -module-name Fuzzing \
    "${sources[@]}" "$here/FuzzedFile.swift" "$here/${target}Target.swift" -o "$folder/fuzz"

export SWIFT_BACKTRACE=enable=no
if [ -f "${2:-}" ]; then exec "$folder/fuzz" "$2"; fi

# These targets add the signature themselves.
resources=$root/Tests/ImageCodecsTests/Resources
case $target in
JPEG) for file in "$resources"/JPEG/*.jpg; do tail -c +4 "$file" >"$folder/seeds/$(basename "$file")"; done ;;
PNG) for file in "$resources"/PngSuite/*.png; do tail -c +9 "$file" >"$folder/seeds/$(basename "$file")"; done ;;
PNGRows) for kind in 0 1 2 3 4 5 6 7 8 9 a b c d e; do printf "\\x0$kind\\x01\\x01\\x01" | cat - "$0" >"$folder/seeds/$kind"; done ;;
# The first byte says that chunks follow.
WebP) for file in "$resources"/WebP/*.webp; do { printf '\x00'; tail -c +9 "$file" | tail -c +5; } >"$folder/seeds/$(basename "$file")"; done ;;
GIF) for file in "$resources"/GIF/*.gif; do tail -c +7 "$file" >"$folder/seeds/$(basename "$file")"; done ;;
BMP) for file in "$resources"/BMP/*.bmp; do tail -c +3 "$file" >"$folder/seeds/$(basename "$file")"; done ;;
# The system's profiles, where there are some. The first byte says what the pixels are.
Profile) for file in /usr/share/color/icc/*/*.icc; do for space in 0 1 2; do [ ! -f "$file" ] || printf "\\x0$space" | cat - "$file" >"$folder/seeds/$space$(basename "$file")"; done; done ;;
Header) cp "$resources"/JPEG/*.jpg "$resources"/PngSuite/*.png "$folder/seeds" ;;
esac
cd "$folder"
exec nice -n 19 ./fuzz -max_total_time="${2:-1800}" -max_len=16384 -timeout=60 -rss_limit_mb=1024 \
    -artifact_prefix="$folder/findings/" -print_final_stats=1 corpus seeds
