#!/bin/bash
# Converts the library's documentation with DocC; a warning is an error.
#   Tests/Documentation/convert.sh [FOLDER]     the result, one folder per module
# ($TMPDIR/marquee-documentation)
# Needs the toolchain's docc and a release build. To read it: python3 -m http.server -d FOLDER/LazyImages, then
# http://localhost:8000/documentation/lazyimages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-${TMPDIR:-/tmp}/marquee-documentation}
if ! command -v docc >/dev/null; then
    echo 'skipped: the toolchain has no docc'
    exit
fi
built=$(swift build -c release --show-bin-path)
triple=$(swift -print-target-info | sed -nE 's/.*"unversionedTriple": "(.*)".*/\1/p' | head -n 1)
convert() {
    local module=$1 graphs=$folder/symbols/$1
    shift
    rm -rf "$graphs" "${folder:?}/$module"
    mkdir -p "$graphs"
    swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$built/Modules" -minimum-access-level public \
        -Xcc -fmodule-map-file="$built/CMarqueeCurl.build/module.modulemap" \
        -Xcc -fmodule-map-file="$built/CMarqueeSystem.build/module.modulemap" -output-dir "$graphs"
    docc convert "$@" --additional-symbol-graph-dir "$graphs" --fallback-display-name "$module" \
        --fallback-bundle-identifier "marquee.$module" --warnings-as-errors --output-path "$folder/$module"
}
convert LazyImages Sources/LazyImages/LazyImages.docc
convert BackgroundTransfers
convert ImageCodecs
convert PictureService
echo "documentation in $folder"
