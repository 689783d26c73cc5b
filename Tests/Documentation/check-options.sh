#!/bin/bash
# The articles and the program name the same options: what an article names exists, and what the help has stands in one of
# the articles.
#   Tests/Documentation/check-options.sh MARQUEE
set -euo pipefail
marquee=$1
articles=$(dirname "${BASH_SOURCE[0]}")/../../Sources/LazyImages/LazyImages.docc
options() { grep -ohE -- '(^|[^a-zA-Z-])--[a-z][a-z-]+' "$@" | sed -E 's/^[^-]//' | sort -u; }
named=$(options "$articles"/{TheCommandLine,RunningTheService,Errors}.md)
commands=$("$marquee" help | sed -nE '/^Commands/,/^$/s/^  ([a-z]+).*/\1/p')
known=$(for page in $commands options; do "$marquee" help "$page"; done | options -)
# They need no words.
unnamed=$(printf '%s\n' --help --version)
wrong=$(comm -23 <(echo "$named") <(echo "$known"))
missing=$(comm -13 <(echo "$named") <(echo "$known") | grep -vxF -- "$unnamed" || true)
[ -z "$wrong" ] || echo "the articles name options that do not exist:" $wrong >&2
[ -z "$missing" ] || echo "no article names these options:" $missing >&2
[ -z "$wrong$missing" ]
