#!/bin/bash
# Prints a table of the guesses in a file, and which of them compile. A guess is what somebody writes who has not read
# the documentation. Fails if fewer than MINIMUM compile.
#   Tests/FirstGuess/check-guesses.sh BUILD FILE.swift MINIMUM     the folder of a build, such as .build/debug
# Nuke.swift has the guesses of somebody who knows Nuke, Kingfisher or SDWebImage. From number 25 on they are what the
# first pages of these libraries teach, with our names of types. Stranger.swift has 30 tasks, guessed without these.
# Reader.swift has 30 by somebody who had read the README and the names of the types.
# In the file, a guess begins with a comment that says what it is for. Below are its types, if any, and its function:
#     // Load an image.
#     func guess01(_ loader: ImageLoader, _ url: URL) async throws {
#         _ = try await loader.image(for: url)
#     }
set -euo pipefail
build=$(realpath "$1") file=$2 minimum=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    cat "$work/output" >&2
    echo "failed: $1" >&2
    exit 1
}

flags=(-I "$build/Modules")
for map in "$build"/C*.build/module.modulemap; do flags+=(-Xcc -fmodule-map-file="$map"); done

# The number of the guess that each line belongs to. Lines before the first comment belong to 0.
awk '/^\/\// && !wasComment { guess++ } { wasComment = /^\/\//; print guess + 0 }' "$file" >"$work/guesses"

# Some errors hide others: after a type error the compiler looks for no data races. So the guesses with errors are
# removed, and the others are compiled again.
cp "$file" "$work/rest.swift"
: >"$work/errors"
until swiftc -emit-sil -o /dev/null -parse-as-library -swift-version 6 -suppress-warnings "${flags[@]}" \
    "$work/rest.swift" >"$work/output" 2>&1; do
    sed -nE 's/^.*rest\.swift:([0-9]+):[0-9]+: error: (.*[^ ]) *$/\1 \2/p' "$work/output" | awk '
        FNR == NR { guess[FNR] = $1; next }
        { line = $1; sub(/^[0-9]+ /, "") }
        !(guess[line] in isKnown) { isKnown[guess[line]] = 1; print guess[line], $0 }' "$work/guesses" - >"$work/found"
    [ -s "$work/found" ] || fail "$file does not compile"
    ! grep -q '^0 ' "$work/found" || fail "$file has an error before its first guess"
    cat "$work/found" >>"$work/errors"
    awk 'FILENAME ~ /errors$/ { hasError[$1] = 1; next }
        FILENAME ~ /guesses$/ { guess[FNR] = $1; next }
        { print guess[FNR] in hasError ? "" : $0 }' "$work/errors" "$work/guesses" "$file" >"$work/rest.swift"
done

awk -v minimum="$minimum" '
    function add(text, line) { return text (text == "" ? "" : " ") line }
    FILENAME ~ /errors$/ { guess = $1; sub(/^[0-9]+ /, ""); error[guess] = $0; next }
    FILENAME ~ /guesses$/ { guessAt[FNR] = $1; next }
    FNR == 1 { print "| guess | purpose | code | compiles |\n| --- | --- | --- | --- |" }
    { guess = guessAt[FNR]; gsub(/\|/, "\\|"); isComment = /^\/\//; sub(/^ *(\/\/ *([0-9]+\. )?)?/, "") }
    isComment { purpose[guess] = add(purpose[guess], $0); next }
    /^func guess[0-9]+\(/ { number[guess] = substr($0, 11) + 0; isHeader = 1 }
    isHeader && !/ \}$/ { isHeader = !/\{$/; next }
    isHeader { sub(/^[^{]*\{ /, ""); isHeader = 0 }
    /^@MainActor$/ { next }
    { code[guess] = add(code[guess], $0) }
    END {
        for (guess = 1; guess in number; guess++) {
            sub(/ *\}? *$/, "", code[guess])
            isCompiled = !(guess in error)
            compiled += isCompiled
            printf "| %d | %s | `%s` | ", number[guess], purpose[guess], code[guess]
            print (isCompiled ? "yes" : error[guess]) " |"
        }
        printf "%d of %d compile\n", compiled, guess - 1
        exit guess == 1 || compiled < minimum
    }' "$work/errors" "$work/guesses" "$file"
