"""The commands for files: fetch, prewarm, cache, jobs, picture, sign, purge and upload."""

import os

from cases import Do, Look, Run, Site, runs

# The boundary of a form has a random length.
FORM = [(r"\b\d+ bytes sent", "<number> bytes sent"), (r'"sent":\d+', '"sent":<number>')]

# A cached poster of the sample has its server's entity tag. The tag has the file's inode, whose number of digits is the
# disk's choice: each entry can be a few bytes longer.
ENTRY_SIZES = [(r'([bB]ytes":\d+)\d{3}\b', r"\1<about>"), (r"\b(\d+)\.\d KiB", r"\1 KiB")]


def sites(place):
    origin = f"http://{place.origin.address}"
    return [
        Site("fetch", fetching(origin)),
        Site("prewarm", prewarming(origin)),
        Site("cache", cache(), rules=ENTRY_SIZES),
        Site("jobs", jobs(origin)),
        Site("picture", picture(origin)),
        Site("sign and purge", signing(origin)),
        Site("upload", uploading(origin)),
    ]


def fetching(origin):
    def fetch(name, words, **options):
        return Run(name, "fetch " + words, **options)

    addresses = [
        "missing.jpg", "gone.jpg", "forbidden.jpg", "locked.jpg", "page.jpg", "empty.jpg", "text", "cut.jpeg", "text.jpeg",
        "moved.jpg", "loop.jpg",
    ]
    good = f"{origin}/good.jpeg"
    return [
        fetch("a film", "metropolis", shows_origin=True),
        fetch("a film again", "metropolis"),
        fetch("a film as JSON", "golem --json --checksum"),
        fetch("no film", "nothing"),
        fetch("no film as JSON", "nothing --json"),
        fetch("two films, one of which is none", "metropolis nothing --json --concurrency 1"),
        fetch("a film without a poster", "plain --catalogue small.json"),
        fetch("a film of a library", "nosferatu --catalogue small.db --json"),
        fetch("an address", good, shows_origin=True),
        fetch("an address again", good, shows_origin=True),
        fetch("an address again, offline", f"{good} --offline", shows_origin=True),
        fetch("an address that is not cached, offline", f"{good}?x --offline"),
        fetch("an address with a header", f"{good}?header --header 'X-Own: yes' --header 'Cookie: a=b'", shows_origin=True),
        fetch("an address without its query", f"'{good}?utm_source=x' --ignore-query 'utm_*'", shows_origin=True),
        fetch("an address to confirm", f"{origin}/stale.jpg --json", shows_origin=True),
        fetch("an address to confirm, again", f"{origin}/stale.jpg --json", shows_origin=True),
        fetch("an address with credentials", f"{origin}/locked.jpg",
            variables={"MARQUEE_CREDENTIALS": "127.0.0.1 anna:secret"}, shows_origin=True),
        *[fetch(f"the answer {name}", f"{origin}/{name} --json") for name in addresses],
        *[fetch(f"the answer {name}, for people", f"{origin}/{name}") for name in ["missing.jpg", "cut.jpeg", "moved.jpg"]],
        fetch("any content", f"{origin}/text --any-content"),
        fetch("too large", f"{good}?large --max-bytes 1K"),
        fetch("with its header, not found", f"--include {origin}/missing.jpg"),
        fetch("with its header, offline", f"--include {origin}/other.jpg --offline"),
        fetch("with its header, as text", f"--include {origin}/text --any-content"),
        fetch("nobody listens", "http://127.0.0.1:1/a.jpg"),
        fetch("nobody listens, as JSON", "http://127.0.0.1:1/b.jpg --json"),
        fetch("plain http", "http://example.org/a.jpg --json"),
        fetch("another scheme", "ftp://example.org/a.jpg"),
        fetch("no address", "http://"),
        fetch("a password in an address", f"http://user:password@{origin[7:]}/good.jpeg?password --json"),
        fetch("a data address", "data:image/png;base64,AAAA --json"),
        fetch("a file", "pictures/small.png --json"),
        fetch("a file by its address", "file:///etc/hostname-that-is-not-there --json"),
        fetch("no file", "pictures/nothing.png"),
        fetch("a folder", "pictures/"),
        fetch("verbose", f"{good} --verbose"),
        fetch("quiet", f"{good} --quiet"),
        fetch("the words of standard input", "- --json --concurrency 1",
            entered=f"# films\nmetropolis\n{good}\n\nnothing\npictures/small.png\n".encode()),
        fetch("nothing in standard input", "-"),
        fetch("to standard output", "golem -o -"),
        fetch("to standard output, no film", "nothing -o -"),
        fetch("to a folder", f"golem {good} -o fetched --concurrency 1"),
        fetch("to a folder again", "golem -o fetched"),
        fetch("to a folder with another file", "metropolis -o occupied"),
        Do(occupy),
        fetch("to a folder with a file of the name", "metropolis -o occupied"),
        fetch("to a folder, by force", "metropolis -o occupied --force"),
        fetch("to a folder, without a change", "metropolis -o occupied --no-clobber"),
        fetch("to a file", "metropolis -o one.jpg"),
        fetch("to a file that is there", "golem -o one.jpg"),
        fetch("to a file, by force", "golem -o one.jpg --force"),
        fetch("to a file, without a change", "metropolis -o one.jpg -n"),
        fetch("to a file of two", "metropolis golem -o one.jpg"),
        fetch("to a file of another type", f"{origin}/small.png -o one.jpg -f"),
        fetch("to a place that is none", "metropolis -o small.json/x.jpg"),
        Look("the file", "one.jpg"),
        Run("the folder", "list --catalogue fetched --plain"),
    ]


def occupy(place, _):
    (place.folder / "occupied" / "metropolis.jpg").write_text("another file")


def prewarming(origin):
    return [
        Run("the sample", "prewarm --concurrency 1"),
        Run("the sample again", "prewarm --concurrency 1"),
        Run("the sample as JSON", "prewarm --concurrency 1 --json", sorts=True),
        Run("many at once", "prewarm --cache-dir many", sorts=True),
        Run("offline", "prewarm --concurrency 1 --offline --cache-dir none"),
        Run("quiet", "prewarm --quiet --concurrency 1"),
        Run("a manifest in JSON", "prewarm sample-data/manifest.json --concurrency 1 --cache-dir second"),
        Run("a manifest in text", "prewarm list.txt", sorts=True),
        Run("a manifest as a catalogue", "prewarm two-films.json"),
        Run("a checksum that is wrong", "prewarm checked.txt"),
        Run("entries that are wrong", "prewarm wrong.txt --concurrency 1"),
        Run("entries that are wrong, as JSON", "prewarm wrong.txt --concurrency 1 --json"),
        Run("entries of JSON that are wrong", "prewarm manifest-wrong.json"),
        Run("a library", "prewarm --catalogue films.db"),
        Run("a library with posters elsewhere", "prewarm --catalogue small.db --concurrency 1"),
        Run("a small catalogue", "prewarm --catalogue small.json --concurrency 1"),
        Run("standard input", "prewarm - --concurrency 1", entered=f"{origin}/good.jpeg\n{origin}/missing.jpg\n".encode(),
            shows_origin=True),
        Run("nothing in standard input", "prewarm -"),
        Run("a manifest of a server", f"prewarm {origin}/text"),
        Run("any content", "prewarm - --any-content", entered=f"{origin}/text\n".encode()),
    ]


def cache():
    return [
        *runs("""
            cache path
            cache path --json
            cache info
            cache info --json
            cache verify
            cache clear
            cache clear --yes
        """),
        Run("fill it", "prewarm --concurrency 1 --quiet"),
        *runs("""
            cache info --verbose
            cache verify --json
            cache clear --dry-run
            cache clear --dry-run --host sample.localhost
            cache clear --yes --host nobody.example
            list --limit 2
            list --limit 1 --json
        """),
        Do(date_entries),
        *runs("""
            cache trim --to 1M
            cache trim --to 1T --json
        """),
        Do(spoil_entry),
        Run("verify a spoiled entry", "cache verify"),
        Run("clear one host", "cache clear --yes --host sample.localhost --json"),
        Run("info at the end", "cache info --json --cache-size 1M"),
        Run("a folder that is a file", "cache info --cache-dir small.json"),
        Run("fetch with a folder that is a file", "fetch metropolis --cache-dir small.json"),
    ]


def entries(place):
    """The files of the cached posters."""
    files = (path for path in (place.folder / "own/cache/cache").rglob("*") if path.is_file())
    return sorted(path for path in files if path.stat().st_size > 10_000)


def date_entries(place, _):
    """Gives each cached file a last use of its own. The real ones may be equal, and trim removes the oldest first."""
    for number, path in enumerate(entries(place)):
        status = path.stat()
        os.utime(path, ns=(status.st_atime_ns - number * 1_000_000_000, status.st_mtime_ns))


def spoil_entry(place, _):
    """Changes the last byte of the first cached file."""
    for entry in entries(place)[:1]:
        data = bytearray(entry.read_bytes())
        data[-1] ^= 0xFF
        entry.write_bytes(data)


def jobs(origin):
    return [
        *runs("""
            jobs
            jobs --json
            jobs wait night
            jobs cancel night --json
            jobs resume night
            jobs remove night
            jobs attach night
        """),
        Run("start one", "prewarm list.txt --detach --name night"),
        Run("wait for it", "jobs wait night"),
        Run("cancel it", "jobs cancel night"),
        Run("attach to it", "jobs attach night --json", sorts=True),
        Run("resume one that has ended", "jobs resume night"),
        Run("list one", "jobs"),
        Run("list one as JSON", "jobs --json"),
        Run("start one of the same name", "prewarm list.txt --detach --name night"),
        Run("start one with a wrong name", "prewarm list.txt --detach --name a/b"),
        Run("start one with a password", "prewarm - --detach --name secret",
            entered=f"http://user:password@{origin[7:]}/good.jpeg\n".encode()),
        Run("start one that fails", "prewarm - --detach --name bad", entered=f"{origin}/missing.jpg\n".encode()),
        Run("wait for the one that fails", "jobs wait bad"),
        Run("attach to the one that fails", "jobs attach bad"),
        Run("list both", "jobs"),
        Run("remove one", "jobs remove night"),
        Run("remove the other", "jobs remove bad"),
        Run("list none", "jobs"),
    ]


def picture(origin):
    return [
        *runs("""
            picture pictures/good.jpeg w92 -o small.jpg
            picture pictures/good.jpeg w92 -o small.jpg --json --checksum
            picture pictures/good.jpeg w92 -o small.png
            picture pictures/small.png w30 -o other.jpg
            picture pictures/good.jpeg original -o same.png
            picture pictures/good.jpeg w92.q60 -o quality.png
            picture pictures/good.jpeg 40x40.fill -o -
            picture pictures/good.jpeg w92 -o made/
            picture pictures/good.jpeg pictures/small.png w30 -o made --concurrency 1
            picture pictures/good.jpeg w92 -o pictures/good.jpeg
            picture pictures/good.jpeg w92 -o small.json
            picture pictures/good.jpeg w92 -o small.jpg --no-clobber
            picture pictures/text.jpeg w92 -o x.jpg
            picture pictures/cut.jpeg w92 -o x.jpg
            picture pictures/nothing.jpeg w92 -o x.jpg
            picture pictures/nothing.jpeg w92 -o x.jpg --json
            picture pictures/good.jpeg w200.crop190-0-100x100 -o x.jpg
            picture pictures w92 -o x.jpg
            picture metropolis w92 -o x.jpg
            picture pictures/good.jpeg w92 -o made/x/y.jpg
            picture pictures/good.jpeg w92 -o small.jpg --quiet --workers 1
        """),
        Run("from an address", f"picture {origin}/good.jpeg w92 -o - "),
        Run("no picture at an address", f"picture {origin}/page.jpg w92 -o x.jpg"),
        Run("of standard input", "picture - w30 -o listed --concurrency 1",
            entered=b"pictures/small.png\npictures/small.bmp\n"),
        Run("of nothing in standard input", "picture - w30 -o listed"),
        *[Look(f"the file {name}", name)
          for name in ["small.jpg", "small.png", "other.jpg", "same.png", "quality.png", "made/good.jpg"]],
    ]


def signing(origin):
    address = "https://example.org/a.jpg"
    return [
        *runs(f"""
            sign {address} w999 --sign-key-file keys
            sign {address} w999 --sign-key-file one-key --json
            sign {address} w999 --sign-key-file keys --base https://pictures.example.org/x/
            sign {address} large --sign-key-file keys
            sign {address} w99999 --sign-key-file keys
            sign {address} w92.e1 --sign-key-file keys
            sign {address} w92.e9999999999 --sign-key-file keys
            sign example.org/a.jpg w92 --sign-key-file keys
            sign ftp://example.org/a.jpg w92 --sign-key-file keys
            sign https://user:password@example.org/a.jpg w92 --sign-key-file keys
            sign {address} w92 --sign-key-file keys --base nothing
            sign {address} w92 --sign-key-file short-key
            sign {address} w92 --sign-key-file no-key
            sign {address} w92 --sign-key-file wrong-key
            sign {address} w92 --sign-key-file twice-key
            sign {address} w92 --sign-key-file nothing
            sign {address} w92 --sign-key-file pictures/small.png
        """),
        Run("a key from standard input", f"sign {address} w92 --sign-key-file -", entered=b"00" * 32),
        Run("a key from the environment", f"sign {address} w92", variables={"MARQUEE_SIGN_KEY_FILE": "keys"}),
        *runs(f"""
            purge {address}
            purge {address} --quiet
            purge {address} --admin 127.0.0.1:1
            purge {address} --admin-file small.json
            purge {address} --admin-file no-key
            purge {address} --admin-file nothing
            purge {address} --admin-file empty.json
            token
            token 127.0.0.1:1
            token --json
        """),
    ]


def uploading(origin):
    def upload(name, words, **options):
        return Run(name, "upload " + words, shows_origin=True, **options)

    store = f"{origin}/store"
    wrong = [
        "malformed.json", "empty.json", "latin1.json", "malformed.xml", "entity.xml", "nothing.json", "pictures",
    ]
    return [
        upload("a file", f"pictures/small.gif {store}"),
        upload("a file as JSON", f"pictures/small.gif {store} --json --checksum"),
        upload("a file by POST", f"small.json {origin}/silent-store --method POST"),
        upload("a file as text", f"list.txt {store} --type text/plain"),
        upload("a form", f"{store} --form title=Metropolis --form 'text=a b&c=é'"),
        upload("a form by PUT", f"{store} --form a=b --method PUT"),
        upload("a form with a file", f"list.txt {store} --form id=1", rules=FORM),
        upload("a form with a file in a field", f"list.txt {store} --field 'a \"b\"'", rules=FORM),
        upload("a picture by a recipe", f"pictures/good.jpeg {store} --recipe w10.q1"),
        upload("standard input", f"- {store}", entered=b"some bytes\n"),
        upload("standard input in a form", f"- {store} --form a=b --type text/plain", entered=b"some bytes\n", rules=FORM),
        upload("verbose", f"list.txt {store} --verbose"),
        upload("quiet", f"list.txt {store} --quiet"),
        upload("with a header", f"list.txt {store} --header 'X-Own: yes'"),
        upload("moved", f"list.txt {origin}/moved-store"),
        upload("locked", f"list.txt {origin}/locked.jpg", variables={"MARQUEE_CREDENTIALS": "127.0.0.1 anna:secret"}),
        upload("locked without credentials", f"list.txt {origin}/locked.jpg"),
        *[upload(f"answered {name}", f"list.txt {origin}/{name} --json")
          for name in ["missing", "full", "large", "taken/films"]],
        upload("nobody listens", "list.txt http://127.0.0.1:1/ --method POST"),
        *[upload(f"wrong: {name}", f"{name} {store}") for name in wrong],
        upload("wrong, but unchecked", f"malformed.json {store} --type application/octet-stream"),
        upload("wrong, as JSON", f"malformed.json {store} --json"),
        upload("no picture by a recipe", f"list.txt {store} --recipe w92"),
        upload("no address", "list.txt nothing"),
    ]
