#!/bin/bash
# Checks that a program can use LazyImages beside other packages.
#   Tests/FirstGuess/check-collisions.sh BUILD     the folder of a build, such as .build/debug
# 1. No public type of ours becomes ambiguous. Each list in other-packages becomes a module of empty types. A file
#    imports this module and ours, and uses each type of ours.
# 2. No target of ours has the name of another package's target: SwiftPM refuses two targets of one name.
# A list has what is public at the top level of a package: the names of types, and of functions with ().
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "failed: $1" >&2
    exit 1
}

flags=(-I "$build/Modules")
for map in "$build"/C*.build/module.modulemap; do flags+=(-Xcc -fmodule-map-file="$map"); done

# Our modules: LazyImages, those that it re-exports, and the others that are built.
exported=$(sed -nE 's/^@_exported public import //p' ../../Sources/LazyImages/Requests/Exports.swift)
imported=(LazyImages)
for module in BackgroundTransfers PictureService; do
    [ ! -e "$build/Modules/$module.swiftmodule" ] || imported+=("$module")
done
triple=$(swift -print-target-info | sed -nE 's/.*"unversionedTriple": "(.*)".*/\1/p' | head -n 1)
for module in $exported "${imported[@]}"; do
    swift symbolgraph-extract -module-name "$module" -target "$triple" -minimum-access-level public "${flags[@]}" \
        -output-dir "$work"
done
# A type at the top level has a path of one component.
grep -ohE '"kind":\{"identifier":"swift\.(class|enum|protocol|struct|typealias)"[^[]*\["[^"]*"\]' \
    "$work"/*.symbols.json | sed -E 's/.*\["(.*)"\]/\1/' | sort -u >"$work/ours"
[ -s "$work/ours" ] || fail "no public types in $build/Modules"
{
    printf 'import %s\n' Foundation "${imported[@]}"
    awk '{ print "typealias T" NR " = " $0 }' "$work/ours"
} >"$work/uses"

# ambiguous MODULE: prints the types of ours that are ambiguous in a file that imports the module.
ambiguous() {
    sed "1i import $1" "$work/uses" >"$work/uses.swift"
    swiftc -typecheck -swift-version 6 "${flags[@]}" -I "$work" "$work/uses.swift" 2>"$work/errors" || true
    ! grep 'error: ' "$work/errors" | grep -v ' is ambiguous for type lookup ' >&2 || fail "types beside $1"
    sed -nE "s/.*error: '(.*)' is ambiguous for type lookup .*/\1/p" "$work/errors" | sort -u
}
collisions=$(ambiguous Foundation | sed 's/$/ is ambiguous beside our other modules and Foundation/')
packages=0
for list in other-packages/*.txt; do
    package=$(basename "$list" .txt)
    module=${package//-/_}
    sed -E '/^#/d; s/^(.*)\(\)$/public func `\1`() {}/; t; s/.*/public struct `&` {}/' "$list" >"$work/$module.swift"
    swiftc -emit-module -parse-as-library -module-name "$module" -emit-module-path "$work/$module.swiftmodule" \
        "$work/$module.swift"
    collisions+=$(ambiguous "$module" | sed "s/.*/\n& is a type of $package too/")
    packages=$((packages + 1))
done
collisions+=$(grep -oE 'name: "[^"]+"' ../../Package.swift | cut -d '"' -f 2 | sort -u | awk '
    FNR == NR { isOurs[$1] = 1; next }
    $1 in isOurs { print "\n" $1 " is a target of " $2 " too" }' - other-targets.txt)
if [ -n "$collisions" ]; then
    sed '/^$/d' <<<"$collisions"
    exit 1
fi
echo "$(wc -l <"$work/ours") names of ours beside $packages packages: no collision"
