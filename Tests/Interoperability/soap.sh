#!/bin/bash
# Runs independent SOAP clients against a writable library. Each reads the WSDL, lists, gets the top 3, adds,
# rates, edits, removes, and gets faults. zeep's client also validates every message against the WSDL's
# schemas.
#
#     Tests/Interoperability/soap.sh                   with the release build
#     MARQUEE=.build/debug/marquee Tests/Interoperability/soap.sh
#
# Needs php-soap and php-cli (Debian packages), and python3-venv to install zeep from PyPI, or zeep itself.
# Perl's SOAP::Lite (libsoap-lite-perl) is used if it is installed. Status 1 if a client fails, 2 if one is
# missing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

marquee=${MARQUEE:-$(swift build -c release --show-bin-path)/marquee}
[ -x "$marquee" ] || { echo "$marquee is missing: swift build -c release --product marquee" >&2; exit 2; }
php -r 'exit(class_exists("SoapClient") ? 0 : 1);' 2>/dev/null || { echo 'php-soap is missing: apt-get install php-cli php-soap' >&2; exit 2; }
work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server"
    rm -rf "$work"
}
trap finish EXIT
export XDG_CACHE_HOME="$work/cache"

python=python3
if ! python3 -c 'import zeep' 2>/dev/null; then
    python3 -m venv "$work/python" && "$work/python/bin/pip" install -q zeep || exit 2
    python="$work/python/bin/python"
fi

"$marquee" import sample-data/movies.json "$work/films.db" >/dev/null || exit 2
exec 3< <(exec "$marquee" serve "$work/films.db" --writable --trust-local)
server=$!
read -r -t 30 address <&3 || { echo 'marquee serve printed no address' >&2; exit 2; }

clients=("php Tests/Interoperability/films.php" "$python Tests/Interoperability/films.py")
if perl -MSOAP::Lite -e 1 2>/dev/null; then clients+=("perl Tests/Interoperability/films.pl"); fi
failures=0
for client in "${clients[@]}"; do
    echo "== $client"
    $client "${address}soap?wsdl" || failures=$((failures + 1))
done
exit $((failures > 0))
