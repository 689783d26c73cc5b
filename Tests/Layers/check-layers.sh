#!/bin/bash
# Checks that each folder of LazyImages uses only the folders before it: it type-checks the first folder
# alone, then the first two, and so on. A file that uses a later folder does not compile. Checks also that
# Hashing, Locking, SystemSupport, HTTPSemantics, ImageCodecs, Coalescing, BackgroundTransfers, HTTPServer,
# ServiceOperations, Films, FilmSources, FilmBrowser, PictureService and PictureServer import only modules below them,
# and that no target imports a module that is missing in its dependencies. Checks last that an error that leaves its
# module is described in words: otherwise a message would show the program's own names.
#
#     Tests/Layers/check-layers.sh [options of swift build, such as -c release]
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folders=(Requests Cache/Memory Cache/Disk Cache/Pressure Transport Cache/Shared Download Loading Upload List Prewarm)
library=Sources/LazyImages

fail() {
    printf 'failed: %s\n' "$1" >&2
    exit 1
}

# imports MODULE [ALLOWED...]: checks that the module's sources import no other module of this package.
imports() {
    local module=$1 name line
    shift
    while IFS=: read -r line; do
        name=${line##* }
        [ -d "Sources/$name" ] || continue
        [[ " $* " == *" $name "* ]] || fail "$module imports $name: $line"
    done < <(grep -rhE '^ *(@[a-zA-Z_]+ |public |package |internal )*import ' "Sources/$module")
}
imports Hashing
imports Locking
imports SystemSupport Locking CMarqueeSystem
imports HTTPSemantics SystemSupport
imports Coalescing SystemSupport
imports BackgroundTransfers SystemSupport HTTPSemantics LazyImages CMarqueeSystem
imports HTTPServer SystemSupport HTTPSemantics CMarqueeSystem
imports ServiceOperations SystemSupport HTTPSemantics HTTPServer
imports ImageCodecs Locking
imports Films Hashing SystemSupport HTTPSemantics
imports FilmSources CMarqueeSQLite Hashing SystemSupport HTTPSemantics LazyImages Films
imports FilmBrowser Hashing SystemSupport ImageCodecs LazyImages BackgroundTransfers Films TerminalGraphics
imports PictureService Hashing SystemSupport HTTPSemantics ImageCodecs LazyImages
imports PictureServer Hashing SystemSupport HTTPSemantics HTTPServer ImageCodecs Coalescing LazyImages \
    PictureService CMarqueeSystem

# Errors that are caught by their cases, and are in no message.
caught=' Failure Refusal FilmError SoapFault '
for error in $(grep -rhoE '^ *(package|public) (indirect )?(enum|struct) \w+:.*\bError\b.*' Sources \
    | grep -v CustomStringConvertible | sed -E 's/.*(enum|struct) (\w+):.*/\2/'); do
    [[ $caught == *" $error "* ]] || grep -rqE "extension $error: .*CustomStringConvertible" Sources \
        || fail "$error has no description in words: make it CustomStringConvertible"
done

swift build "$@" --explicit-target-dependency-import-check error
output=$(swift build "$@" --show-bin-path)
manifest=$(dirname "$(dirname "$output")")/$(basename "$output").yaml

# The library's compiler settings, and the folder of its modules, as in the build.
settings=()
while read -r flag; do
    case $flag in
    -I | -Xcc | -target | -swift-version | -enable-upcoming-feature | -package-name | -module-cache-path)
        read -r value
        settings+=("$flag" "$value")
        ;;
    -strict-memory-safety) settings+=("$flag") ;;
    esac
done < <(grep -m 1 '"-module-name","LazyImages"' "$manifest" | grep -o '"[^"]*"' | tr -d '"')
[ "${#settings[@]}" -gt 0 ] || fail "no settings of LazyImages in $manifest"

# One type-check for each processor at once, the longest first.
checks=() lists=() running=()
files=()
for folder in "${folders[@]}"; do
    [ -d "$library/$folder" ] || fail "there is no folder $library/$folder"
    while read -r file; do files+=("$file"); done < <(find "$library/$folder" -name '*.swift' | sort)
    # Files outside a folder count as Loading.
    if [ "$folder" = Loading ]; then files+=("$library"/*.swift); fi
    checks=("$folder" "${checks[@]}")
    lists=("${files[*]}" "${lists[@]}")
done
[ "${#files[@]}" = "$(find "$library" -name '*.swift' | wc -l)" ] || fail "a file of $library is in none of its folders"

check() {
    local folder=$1
    shift
    swiftc -typecheck -parse-as-library -module-name LazyImages "${settings[@]}" "$@" \
        || fail "$folder uses something of a folder after it"
    printf 'up to %s: %d files\n' "$folder" $#
}
for index in "${!checks[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    # shellcheck disable=SC2086 # one word for each file
    check "${checks[index]}" ${lists[index]} &
    running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
