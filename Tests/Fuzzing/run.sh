#!/bin/bash
# Feeds a decoder with bytes that libFuzzer makes up, for SECONDS (1800 unless told):
#   Tests/Fuzzing/run.sh JPEG|PNG|PNGRows|Header [SECONDS]
#   Tests/Fuzzing/run.sh JPEG FILE              runs one input again, as it was left after a finding
# Begins with the stored pictures of the tests as seeds. What it finds, and what it has learnt, is kept in
# $TMPDIR/marquee-fuzzing; a finding becomes a named array of bytes in Tests/ImageCodecsTests.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
target=${1:?name a target: JPEG, PNG, PNGRows or Header}
[ -f "$here/${target}Target.swift" ] || { echo "no such target: $target" >&2; exit 2; }
folder=${TMPDIR:-/tmp}/marquee-fuzzing/$target
mkdir -p "$folder/corpus" "$folder/seeds" "$folder/findings"

# The target and the decoders are one module, so that targets can mend the checks that stand before what they try.
mapfile -t sources < <(find "$root/Sources/ImageCodecs" -name '*.swift')
swiftc -O -sanitize=fuzzer -parse-as-library -swift-version 6 -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature InternalImportsByDefault -package-name marquee -module-name Fuzzing \
    "${sources[@]}" "$here/FuzzedFile.swift" "$here/${target}Target.swift" -o "$folder/fuzz"

export SWIFT_BACKTRACE=enable=no
if [ -f "${2:-}" ]; then exec "$folder/fuzz" "$2"; fi

# Targets put the magic number there themselves.
resources=$root/Tests/ImageCodecsTests/Resources
case $target in
JPEG) for file in "$resources"/JPEG/*.jpg; do tail -c +4 "$file" >"$folder/seeds/$(basename "$file")"; done ;;
PNG) for file in "$resources"/PngSuite/*.png; do tail -c +9 "$file" >"$folder/seeds/$(basename "$file")"; done ;;
PNGRows) for kind in 0 1 2 3 4 5 6 7 8 9 a b c d e; do printf "\\x0$kind\\x01\\x01\\x01" | cat - "$0" >"$folder/seeds/$kind"; done ;;
Header) cp "$resources"/JPEG/*.jpg "$resources"/PngSuite/*.png "$folder/seeds" ;;
esac
cd "$folder"
exec nice -n 19 ./fuzz -max_total_time="${2:-1800}" -max_len=16384 -timeout=60 -rss_limit_mb=1024 \
    -artifact_prefix="$folder/findings/" -print_final_stats=1 corpus seeds
