#!/bin/bash
# Converts the library's documentation with DocC; a warning is an error.
#   Tests/Documentation/convert.sh [FOLDER]     the result, one folder per module
# ($TMPDIR/marquee-documentation)
# Checks that the article Interface has all declarations. Needs python3, the toolchain's docc and a release build. To read it: python3 -m http.server -d FOLDER/LazyImages, then
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
extract() {
    local module=$1 graphs=$folder/symbols/$1
    rm -rf "$graphs"
    mkdir -p "$graphs"
    swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$built/Modules" -minimum-access-level public \
        -Xcc -fmodule-map-file="$built/CMarqueeCurl.build/module.modulemap" \
        -Xcc -fmodule-map-file="$built/CMarqueeSystem.build/module.modulemap" -output-dir "$graphs"
}
convert() {
    local module=$1 graphs=$folder/symbols/$1
    shift
    extract "$module"
    rm -rf "${folder:?}/$module"
    docc convert "$@" --additional-symbol-graph-dir "$graphs" --fallback-display-name "$module" \
        --fallback-bundle-identifier "marquee.$module" --warnings-as-errors --output-path "$folder/$module"
}
convert LazyImages Sources/LazyImages/LazyImages.docc
convert BackgroundTransfers
convert ImageCodecs
convert PictureService
extract HTTPSemantics
python3 Tests/Documentation/interface.py "$folder/symbols"
echo "documentation in $folder"
