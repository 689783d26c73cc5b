"""The commands that show films and pictures: list and show, with all formats of catalogues, and what is wrong with them."""

from cases import Run, Site, runs
from samples import FEEDS, pictures, wrong_files

# The number of an image in kitty's protocol is random.
KITTY = [
    (r"\bi=\d{5,10}\b", "i=<number>"),
    # Three of its four bytes are the colour of the placeholders. The fourth is the third mark on each.
    ("\x1b\\[[0-9;]+m(?=\U0010eeee)", "\x1b[<number>m"),
    ("(\U0010eeee..).", r"\1"),
]


def sites(place):
    origin = f"http://{place.origin.address}"
    return [
        Site("list", listing(), is_independent=True),
        Site("wrong catalogues", wrong_catalogues()),
        Site("show", showing(origin)),
        Site("drawn", drawn(), rules=KITTY),
    ]


def listing():
    return [
        *runs("""
            list
            list --plain
            list --json
            list --top 3
            list --top 3 --json
            list --top 2 --sort year
            list --sort title --limit 3
            list --sort score --limit 2 --plain
            list --director murnau
            list --genre horror --plain
            list --year 1927
            list --year 1920..1922 --plain
            list --year 1928..
            list --director lang --year 1927 --genre drama
            list --search moon
            list --search 'title: the director: keaton'
            list --search 'genre: horror year: 1920..1929' --plain
            list --search metrpolis
            list --search nothing-at-all
            list --year 1950
            list --search x --genre y --json
            list --search haxan --json
            list --top 2 --search the
            list --catalogue small.json
            small.json
            list --catalogue small.json --json
            small.json --plain --sort year
            list --catalogue small.db
            small.db --json
            list --catalogue small.db --top 2
            list --catalogue small.db --search camion
            list --catalogue sample-data/movies.xml --limit 2
            list --catalogue sample-data --limit 2 --json
            list --catalogue pictures
            pictures --json
            list --catalogue shelf --json
            list --catalogue pair
            list --catalogue feed.rss --json
            list --catalogue feed.atom --json
            list --catalogue invalid-films.json --verbose
            list --catalogue one-wrong.json --quiet
            list --catalogue no-films.json --json
            list --catalogue sample --limit 1
            list --color always --limit 3
            list --offline --limit 1
            list --top 1 --no-disk-cache
            list --limit 2 --no-pager
        """),
        Run("no words", ""),
        Run("a catalogue from standard input", "list --catalogue - --plain", entered=FEEDS["feed.rss"].encode()),
        Run("another catalogue from standard input", "- --json", entered=b'{"movies":[{"id":"a","title":"A"}]}'),
        Run("nothing from standard input", "list --catalogue -"),
        Run("a catalogue of a server", "list --catalogue http://127.0.0.1:1/films"),
        Run("a catalogue of a server, offline", "list --catalogue http://127.0.0.1:1/films --offline"),
        Run("a catalogue by plain http", "list --catalogue http://example.org/films"),
    ]


def wrong_catalogues():
    names = [*wrong_files(), "nothing.json", "nothing.db", "/dev/null", "broken", "bare/good.jpeg", "tokens"]
    return [
        *[Run(f"list {name}", f"list --catalogue {name}") for name in names],
        *[Run(f"serve {name}", f"serve {name}") for name in ["nothing.json", "nothing.db", "text.db", "tokens", "nothing"]],
        *runs("""
            import malformed.json wrong.db
            import invalid-films.json wrong.db
            import nothing.json wrong.db
            import text.db wrong.db
            import page.html wrong.db
            prewarm malformed.json
            prewarm nothing.txt
            prewarm no-images.json
            prewarm page.html
            prewarm number.json
        """),
    ]


def showing(origin):
    return [
        *runs("""
            show golem
            show metropolis --json
            show 'trip to the moon'
            show the
            show metropolis golem
            show nothing
            show metropolsi
            show metropolis nothing
            show nothing nobody
            show plain --catalogue small.json
            show hostile --catalogue small.db
            show members --catalogue small.db
            show members --catalogue small.db --json
            show nosferatu --catalogue small.db
            show voted --catalogue small.db
            show refused --catalogue small.db
            show script --catalogue small.json
            show elsewhere --catalogue small.db
            show elsewhere --catalogue small.db --json
            show el-camion --catalogue small.json --quiet
            show metropolis --offline --no-disk-cache
            show pictures/small.png
            show pictures/small.png --json
            show pictures/good.jpeg --json --checksum
            show pictures
            show bare
            show sample-data/art
            show pictures/text.jpeg
            show pictures/cut.jpeg
            show pictures/nothing.png
            show nothing.png
            show small.json
            show example.org/a.jpg
            show shelf/linked.jpeg --json
            show ./metropolis
        """),
        Run("a picture from an address", f"show {origin}/good.jpeg"),
        Run("a picture from an address, as JSON", f"show {origin}/small.png --json"),
        Run("no picture from an address", f"show {origin}/missing.jpg"),
        Run("a page from an address", f"show {origin}/page.jpg"),
        Run("a picture from standard input", "show -", entered=pictures()["small.gif"]),
        Run("text from standard input", "show -", entered=b"text"),
        Run("nothing from standard input", "show -"),
        Run("in fzf", "show pictures/small.png", variables={"FZF_PREVIEW_COLUMNS": "20", "FZF_PREVIEW_LINES": "10"}),
    ]


def drawn():
    """Pictures as text, with and without colours."""
    ways = ["kitty", "iterm2", "sixel", "blocks", "sextants", "ascii", "none"]
    return [
        *[Run(f"a poster as {way}", f"show metropolis --size 24x12 --graphics {way} --color always") for way in ways],
        *[Run(f"a picture as {way}", f"show pictures/small.png --size 12x6 --graphics {way} --color always") for way in ways],
        *[Run(f"a list with posters as {way}", f"list --posters --top 2 --graphics {way} --color always") for way in ways],
        *runs("""
            show pictures/small.png --size 12x6
            show pictures/small.png --size 12x6 --color never
            show pictures --size 30x20 --color always
            show pictures/exif.jpeg -s 10x10 --graphics ascii
            picture pictures/good.jpeg w60 --size 12x6 --color always
        """),
        Run("in 256 colours", "show pictures/small.png -s 8x4", variables={"TERM": "xterm-256color"}),
        Run("without colours by the environment", "list --top 2", variables={"NO_COLOR": "1", "TERM": "xterm"}),
        Run("in true colour by the environment", "show pictures/small.png -s 8x4",
            variables={"COLORTERM": "truecolor", "TERM": "xterm"}),
        Run("in a character set without blocks", "show pictures/small.png -s 8x4", variables={"LC_ALL": "C"}),
    ]
