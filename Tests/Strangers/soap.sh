#!/bin/bash
# Has SOAP clients of others use a writable library: each reads the description, lists, gets the top 3, adds, rates, edits,
# removes, and sees faults. zeep's run also holds every message against the schemas of the description.
#
#     Tests/Strangers/soap.sh                   with the release build
#     MARQUEE=.build/debug/marquee Tests/Strangers/soap.sh
#
# Wants php-soap and php-cli (Debian packages), and python3-venv to get zeep from PyPI, or zeep itself. Perl's SOAP::Lite
# (libsoap-lite-perl) is tried where it is there. Exits 1 where a client fails, and 2 where one is missing.
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
exec 3< <(exec "$marquee" serve "$work/films.db" --writable)
server=$!
read -r -t 30 address <&3 || { echo 'marquee serve printed no address' >&2; exit 2; }

clients=("php Tests/Strangers/films.php" "$python Tests/Strangers/films.py")
if perl -MSOAP::Lite -e 1 2>/dev/null; then clients+=("perl Tests/Strangers/films.pl"); fi
failures=0
for client in "${clients[@]}"; do
    echo "== $client"
    $client "${address}soap?wsdl" || failures=$((failures + 1))
done
exit $((failures > 0))
