#!/bin/bash
# Checks that the documentation's Swift compiles: each ```swift block of the given files is in a source of
# this package, line by line, with any indentation. The build of this package compiles it.
#   Tests/LibraryConsumer/check-snippets.sh FILE.md...
set -euo pipefail
sources=$(find "$(dirname "${BASH_SOURCE[0]}")/Sources" -name '*.swift')
# shellcheck disable=SC2086 # one word for each source
awk '
    { line = $0; sub(/^[ \t]+/, "", line) }
    FILENAME ~ /\.swift$/ { text = text "\n" line; next }
    FNR == 1 { isInside = 0 }
    isInside && line == "```" {
        isInside = 0
        sub(/\n+$/, "", block)
        rest = block
        if (gsub(/{/, "", rest) != gsub(/}/, "", rest)) {
            printf "%s:%d: this Swift has a brace without its partner:%s\n", FILENAME, begin, block
            failures++
        }
        if (index(text "\n", block "\n") == 0) {
            printf "%s:%d: this Swift stands in no source of Tests/LibraryConsumer:%s\n", FILENAME, begin, block
            failures++
        }
        blocks++
        next
    }
    isInside { block = block "\n" line; next }
    line == "```swift" { isInside = 1; begin = FNR; block = "" }
    END {
        if (blocks == 0) { print "there is no Swift in the documentation"; failures++ }
        if (failures == 0) printf "%d blocks of Swift in the documentation\n", blocks
        exit failures > 0
    }
' $sources "$@"
