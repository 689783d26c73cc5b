"""The commands for libraries and services: import, export, add, edit, rate, remove and token; what they send; and doctor."""

from cases import Do, Look, Run, Site, runs

# A service without a token file makes a token when it starts.
OWN_TOKEN = [(r'"token":"[\w-]{32}"', '"token":"<token>"')]
# Findings that depend on the machine.
MACHINE = [(r'\{[^{}]*"name":"(?:libcurl|sqlite|room|memory|network)"[^{}]*\}', "{<of the machine>}")]


def sites(place):
    origin = f"http://{place.origin.address}"
    return [
        Site("import and export", importing()),
        # The same changes three times: directly, and through a service in REST and in SOAP.
        Site("own library", changing("--catalogue 'own library.db'"), library="small.db"),
        Site(
            "service", [*changing("--catalogue {url}"), *reading_service()], serve="service.db --writable",
            library="small.db", rules=OWN_TOKEN),
        Site(
            "service in SOAP", changing("--catalogue {url}soap"), serve="'service in SOAP.db' --writable",
            library="small.db"),
        Site(
            "service with a token file", token_file(),
            serve="'service with a token file.db' --writable --token-file tokens", library="small.db"),
        Site(
            "service at a socket", at_socket(), serve="'service at a socket.db' --writable --address unix:token.sock",
            library="small.db", rules=OWN_TOKEN),
        Site("read-only service", read_only_service(), serve="small.db"),
        Site(
            "pictures of a service", pictures_of_service(origin),
            serve="films.db --admin 127.0.0.1:0 --drain 0 --sign-key-file keys "
            f"--source {place.origin.address} --allow-private 127.0.0.0/8"),
        Site("wire", wire(origin)),
        Site("own sample", own_sample(), folder="home"),
        Site("doctor and status", doctor(place)),
    ]


def importing():
    return [
        *runs("""
            import two-films.json two.db
            import two-films.json two.db --json
            import two-other-films.json two.db
            import two-other-films.json two.db --dry-run --skip
            import two-other-films.json two.db --dry-run --replace
            import two-other-films.json two.db --skip
            import two-other-films.json two.db --replace --json
            import invalid-films.json invalid.db
            import invalid-films.json invalid.db --json
            import small.json whole.db
            import small.db again.db --json
            import feed.rss feed.db
            import feed.atom feed.db
            import array.json array.db
            import sample films-again.db --quiet
            import sample-data sample.db
            import two.db two.db
            import two-films.json text.db
            import two-films.json pictures
            import two-films.json nothing/a.db
            import no-films.json none.db
            import two-films.json dry.db --dry-run
            list --catalogue dry.db
        """),
        Run("import standard input", "import - entered.db",
            entered=b'[{"id":"a","title":"A","poster":"pictures/small.png"}]'),
        *runs("""
            export two.db
            export two.db --format xml
            export small.db --no-posters
            export small.db --format xml --no-posters
            export small.db
            export films.db
            export invalid.db
            export none.db
            export nothing.db
            export small.json
            export text.db
            export two.db -o two.json
            export two.db -o small.json
            export two.db -o small.json --no-clobber
            export two.db -o two.db --force
            export two.db -o -
            export two.db -o no-films.json --force --format xml
        """),
        Look("the exported file", "no-films.json"),
        Do(lambda place, _: (place.folder / "no-films.json").write_text('{"movies": []}')),
        Run("import what was exported", "import two.json round.db"),
        Run("export it again", "export round.db"),
    ]


def changing(catalogue):
    """Changes a library, directly or through a service."""
    def change(words, name=None, **options):
        return Run(name or words, f"{words} {catalogue}", **options)

    return [
        change("add --title Nosferatu --year 1922"),
        change("add --title Nosferatu --year 1922", "the same again"),
        change("add --title 'Other Nosferatu' --id nosferatu-1922", "another film with its id"),
        change("add --title Faust --year 1926 --director 'F. W. Murnau' --original-title Fäust --country Germany "
               "--minutes 107 --genre Drama --genre Fantasy "
               "--overview 'Two lines' --score 8,5 --media films/faust.mp4 --json", "all members"),
        change("add --title Poster --poster pictures/small.png", "a poster"),
        change("add --title 'Poster elsewhere' --poster https://127.0.0.1:1/a.jpg --json", "a poster's address"),
        change("add --title 'No poster' --poster pictures/text.jpeg", "a poster that is none"),
        change("add --title 'Year' --year 1", "a year that is refused"),
        change("add --title 'As XML' --wire xml"),
        change("add --title 'As a form' --wire form --genre A --genre B --json"),
        change("add --title 'As parts' --wire multipart"),
        change("add --title 'As a message' --wire soap --genre A"),
        change("edit faust --year 1927 --genre ''"),
        change("edit faust --year 1927 --genre '' --json"),
        change("edit faust --year 1", "edit to what is refused"),
        change("edit faust --poster pictures/small.png"),
        change("edit faust --poster ''"),
        change("edit faust --country '' --wire soap"),
        change("edit nothing --year 1920"),
        change("edit nosferatu --year 1920", "edit one of several"),
        change("edit the --year 1920", "edit what none is called"),
        change("rate faust 8.5 --as anna"),
        change("rate faust 7 --as bert --json"),
        change("rate faust '6,5'"),
        change("rate faust --remove --as bert"),
        change("rate faust --remove --as bert", "remove the vote again"),
        change("rate faust 3 --as carl --wire soap"),
        change("rate faust 5 --as 'a/b'", "rate by a name with a slash"),
        change("rate nothing 5"),
        change("remove 'as a form' --dry-run"),
        change("remove as-a-form --yes"),
        change("remove as-a-form --yes", "remove again"),
        change("remove as-parts -y --json --wire soap"),
        change("remove plain", "remove without a question"),
        change("show faust --json"),
        change("list --plain"),
        change("list --json --top 3"),
        change("fetch poster --json"),
    ]


def reading_service():
    """Commands that read from a service."""
    return [
        Run("the catalogue without its path", "list --catalogue {url} --plain"),
        Run("the list in XML", "list --catalogue {url}films.xml --plain"),
        Run("the best by the service", "list --catalogue {url}films --top 2"),
        Run("a part of the list", "list --catalogue '{url}films?q=faust' --plain"),
        Run("a film of the service", "show hostile --catalogue {url}films"),
        Run("import from the service", "import {url}films from-service.db"),
        Run("the posters of the service", "prewarm --catalogue {url} --concurrency 1"),
        Run("the token", "token --json"),
        Run("the token of an address", "token 127.0.0.1:1"),
        Run("the films offline", "list --catalogue {url} --offline --plain"),
        Run("another path of the service", "list --catalogue {url}nothing"),
        Run("the page of the service", "list --catalogue {url}films.html"),
        Run("upload to the service", "upload two-films.json {url}films --method POST"),
        Run("upload a film to the service", "upload - {url}films --method POST --type application/json",
            entered=b'{"title":"Uploaded"}'),
    ]


def token_file():
    """A service with a token file: the commands need its token."""
    credentials = {"MARQUEE_CREDENTIALS": "127.0.0.1 Bearer recorded-token-0123456789"}
    wrong = {"MARQUEE_CREDENTIALS": "127.0.0.1 Bearer wrong-token-0123456789"}
    return [
        Run("no token", "add --title A --catalogue {url}"),
        Run("no token as JSON", "add --title A --catalogue {url} --json"),
        Run("a wrong token", "add --title A --catalogue {url}", variables=wrong),
        Run("a token, but plain http", "add --title A --catalogue {url}", variables=credentials),
        Run("a token, and plain http allowed", "add --title A --catalogue {url} --insecure-http 127.0.0.1",
            variables=credentials),
        Run("a token in a header",
            "add --title B --catalogue {url} --header 'Authorization: Bearer recorded-token-0123456789'"),
        Run("no kept token", "token"),
        Run("rate without a token", "rate plain 7 --catalogue {url}soap"),
    ]


def at_socket():
    return [
        Run("the token", "token --json"),
        Run("the token by its path", "token unix:token.sock --json"),
        Run("the token of another path", "token unix:other.sock"),
    ]


def read_only_service():
    return [
        Run("add", "add --title A --catalogue {url}"),
        Run("add by SOAP", "add --title A --wire soap --catalogue {url}"),
        Run("add by parts", "add --title A --wire multipart --catalogue {url}"),
        Run("edit", "edit plain --year 1920 --catalogue {url}"),
        Run("rate", "rate plain 7 --catalogue {url}"),
        Run("remove", "remove plain --yes --catalogue {url}"),
        Run("add to a file", "add --title A --catalogue small.json"),
        Run("add to the sample", "add --title A"),
        Run("rate in a folder", "rate a 7 --catalogue pictures"),
        Run("edit at a server that does not run", "edit a --year 1920 --catalogue http://127.0.0.1:1/films"),
    ]


def pictures_of_service(origin):
    good = f"{origin}/good.jpeg"
    return [
        Run("fill with films", "prewarm --through {url} --sizes w92,w154 --concurrency 1"),
        Run("fill with films again", "prewarm --through {url} --sizes w92 --concurrency 1 --json", sorts=True),
        Run("fill with a size that is not listed", "prewarm --through {url} --sizes w93 --concurrency 1", only="(?!)"),
        Run("fill with a manifest", "prewarm - --through {url} --sizes w92", entered=good.encode()),
        Run("fill with a manifest, signed", "prewarm - --through {url} --sizes w93 --sign-key-file keys",
            entered=good.encode()),
        Run("fill with what a service does not fetch", "prewarm list.txt --through {url} --sizes w92"),
        Run("fill with nothing", "prewarm - --through {url} --sizes w92", entered=b"\n"),
        Run("fill with another host", "prewarm - --through {url} --sizes w92", entered=b"https://192.0.2.1/a.jpg\n"),
        Run("purge", f"purge {good} --admin " + "{admin}"),
        Run("purge again", f"purge {good} --admin " + "{admin}"),
        Run("purge from two", f"purge {good} --admin " + "{admin} --admin 127.0.0.1:1"),
        Run("fill a service that is none", f"prewarm --through {origin} --sizes w92"),
        Run("fill a service that does not run", "prewarm --through http://127.0.0.1:1 --sizes w92"),
    ]


def wire(origin):
    """What the commands send, in each format. The script's origin answers as a service does."""
    def sent(name, words, **options):
        return Run(name, words, shows_origin=True, **options)

    film = "add --title 'Sent é' --year 1930 --genre A --genre 'B & C' --score 7.5 --overview '<x>' --id sent-1930"
    forms = ["json", "xml", "form", "multipart", "soap"]
    return [
        *[sent(f"add as {form}", f"{film} --wire {form} --catalogue {origin}/films") for form in forms],
        sent("add with a poster", f"{film} --poster pictures/small.gif --catalogue {origin}/films"),
        sent("add with a poster as JSON", f"{film} --poster pictures/small.gif --wire json --catalogue {origin}/films"),
        sent("add what is taken", f"{film} --catalogue {origin}/taken/films"),
        sent("edit", f"edit sent-1930 --year 1931 --country '' --catalogue {origin}/films"),
        sent("rate", f"rate sent-1930 8.5 --as 'Zoë /' --catalogue {origin}/films"),
        sent("remove", f"remove sent-1930 --yes --catalogue {origin}/films"),
        sent("list", f"list --catalogue {origin}/films --top 3"),
        sent("show", f"show sent-1930 --catalogue {origin}/films"),
        sent("fetch with a header", f"fetch {origin}/good.jpeg --header 'Accept: image/png' --header 'User-Agent: own'"),
    ]


def own_sample():
    """In a folder without the sample, the program shows its own copy."""
    return [
        Run("list", "list --top 3"),
        Run("show", "show metropolis --json"),
        Run("fetch", "fetch golem --json"),
        Run("fetch again", "fetch golem --json"),
        Run("prewarm", "prewarm --concurrency 1 --json", sorts=True),
        Run("import", "import sample own.db"),
        Run("no film", "show nothing"),
    ]


def doctor(place):
    """Only what does not depend on the machine."""
    stable = "^(ok|warning|problem) +(settings|terminal|cache|catalogue|proxy) "
    return [
        Run("nothing set", "doctor", only=stable),
        Run("a small catalogue", "doctor --catalogue small.json", only=stable),
        Run("no catalogue", "doctor --catalogue nothing.json", only=stable),
        Run("a library", "doctor --catalogue small.db", only=stable),
        Run("a wrong file of settings", "doctor", variables={"XDG_CONFIG_HOME": place.path("config-wrong")}, only=stable),
        Run("a cache that is a file", "doctor --cache-dir small.json", only=stable),
        Run("a proxy", "doctor --proxy http://127.0.0.1:1", only=stable),
        Run("as JSON", "doctor --json", rules=MACHINE),
        Run("the network", "status", only="(?!)"),
    ]
