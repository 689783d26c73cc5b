#!/bin/bash
# Checks that the articles match the program: they name exactly the options of its help, and every code of the
# library's errors. Checks also that doc comments indent lists of parameters as DocC reads them.
#   Tests/Documentation/check-articles.sh MARQUEE
set -euo pipefail
marquee=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../../Sources/LazyImages"
articles=LazyImages.docc
failures=0
fail() {
    echo "$1" >&2
    failures=$((failures + 1))
}

options() { grep -ohE -- '(^|[^a-zA-Z-])--[a-z][a-z-]+' "$@" | sed -E 's/^[^-]//' | sort -u; }
named=$(options "$articles"/{TheCommandLine,RunningTheService,Errors}.md)
commands=$("$marquee" help | sed -nE '/^Commands/,/^$/s/^  ([a-z]+).*/\1/p')
known=$(for page in $commands options; do "$marquee" help "$page"; done | options -)
for option in $(comm -23 <(echo "$named") <(echo "$known")); do fail "the articles name $option, which no command takes"; done
for option in $(comm -13 <(echo "$named") <(echo "$known")); do
    case $option in
    --help | --version) ;;
    *) fail "no article names $option" ;;
    esac
done

codes=$(sed -nE 's/^        case \.[a-zA-Z]+: "([a-z-]+)"$/\1/p' Requests/ImageLoadingError.swift)
[ -n "$codes" ] || fail 'ImageLoadingError.swift has no codes that this check can read'
for code in $codes; do
    grep -q "\`$code\`" "$articles/Errors.md" || fail "Errors.md has no $code"
done
# Below `/// - Parameters:` a parameter has two more spaces, and its further lines four. Otherwise DocC shows none.
parameters() {
    find "$@" -name '*.swift' -print0 | xargs -0 awk '
        FNR == 1 || !/^ *\/\/\// { inside = 0 }
        /^ *\/\/\/ - Parameters:$/ { inside = 1; next }
        /^ *\/\/\/( - (Returns|Throws|Note|Important|Warning|Complexity|Precondition|SeeAlso):.*)?$/ { inside = 0 }
        inside && !/^ *\/\/\/   (- [A-Za-z0-9_]+: |  [^ ])/ { print FILENAME ":" FNR }'
}
while read -r place; do
    fail "${place#../../}: indent a parameter by two more spaces than - Parameters:, and its further lines by four"
done < <(parameters ../../Sources ../../Tests)
exit $((failures > 0))
