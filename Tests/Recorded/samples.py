"""The files of the cases: catalogues, manifests, pictures, keys, and what is wrong in each way."""

import base64
import json
import os
import pathlib
import shutil
import struct
import zlib

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "sample-data"
# The time of all files that a service may serve, in nanoseconds since 1970: their tags and Last-Modified have it.
WRITTEN = 1_700_000_000_123_456_789

TOKENS = "# laptop\nrecorded-token-0123456789\nanother-token-0123456789+/=\n"
KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
OLD_KEY = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

# Text that is markup, that turns the direction of writing, and that steers a terminal.
HOSTILE = "</title><script>alert(1)</script> & \"quotes\" 'ticks' \u202eright to left\u202c \x1b[31mred"


def small_catalogue(origin):
    """Films that have all kinds of members. origin: the address of the script's own server. At port 1 nobody
    listens."""
    return {
        "name": "Small & <special>",
        "movies": [
            {"id": "plain", "title": "Plain"},
            {
                "id": "nosferatu", "title": "Nosferatu", "originalTitle": "Nosferatu, eine Symphonie des Grauens",
                "year": 1922, "director": "F. W. Murnau", "country": "Germany", "minutes": 94,
                "genres": ["Horror", "Fantasy"], "overview": "A shadow\nclimbs the stairs.", "score": 8.2,
                "poster": "sample-data/posters/nosferatu.jpg",
            },
            {"id": "hostile", "title": HOSTILE, "overview": "<b>bold</b>\n]]>&amp;\n" + HOSTILE, "director": "A, B"},
            {
                "id": "members", "title": "Other members", "year": 1930, "seen": True, "tags": ["a", "b"], "empty": [],
                "notes": {"deep": {"list": [1, 2.50, None, "x"]}, "@attribute": "y"}, "last seen": "1999-01-01",
                "big": 12345678901234567890, "small": 1e-7, "nothing": None,
            },
            {"id": "voted", "title": "Voted", "year": 1931, "score": 5, "rating": 9.5, "votes": 4},
            {"id": "elsewhere", "title": "Elsewhere", "year": 1932, "poster": f"http://{origin}/good.jpeg"},
            {"id": "refused", "title": "Refused", "year": 1933, "poster": "https://127.0.0.1:1/a b.jpg"},
            {"id": "script", "title": "Script", "poster": "javascript:alert(1)"},
            {
                "id": "Ünï cödé +&?#", "title": "Ünï cödé", "year": 1934, "media": "films/a.mp4",
                "page": "https://example.org/",
            },
            {"id": "el-camion", "title": "El Camión", "year": 1935, "director": "Zoë Ångström", "genres": ["Épopée"]},
        ],
    }


# Files that are wrong, or unusual, by their name.
def wrong_files():
    film = {"id": "a", "title": "A"}
    return {
        "no-films.json": '{"movies": []}',
        "text.db": "no library",
        "empty.json": "",
        "blank.json": " \n\n",
        "malformed.json": '{"movies": [\n  {"id": "a", "title": "A",}\n]}',
        "cut.json": '{"movies": [{"id": "a", "title": "A"',
        "malformed.xml": '<catalogue>\n  <movie id="a"><title>A</movie>\n</catalogue>',
        "entity.xml": '<!DOCTYPE c [<!ENTITY a "b">]>\n<catalogue><movie id="a"><title>&a;</title></movie></catalogue>',
        "unknown-entity.xml": '<catalogue><movie id="a"><title>&nbsp;</title></movie></catalogue>',
        "page.html": "<!DOCTYPE html>\n<html><title>No films</title></html>",
        "page.json": "<!DOCTYPE html>\n<html><title>No films</title></html>",
        "other-root.xml": "<films><film/></films>",
        "number.json": "17",
        "no-list.json": '{"films": []}',
        "text.json": "neither one nor the other",
        "zero.json": b'{"movies": []}\0',
        "latin1.json": '{"movies": [{"id": "a", "title": "é"}]}'.encode("latin-1"),
        "latin1.xml": '<?xml version="1.0" encoding="ISO-8859-1"?>\n'.encode()
        + '<catalogue><movie id="a"><title>é</title></movie></catalogue>'.encode("latin-1"),
        "deep.json": "[" * 3000 + "]" * 3000,
        "invalid-films.json": json.dumps({"movies": [
            film, {"title": "No id"}, {"id": "b"}, {"id": "a", "title": "Twice"}, {"id": "c", "title": 7},
            {"id": "d", "title": "D", "year": "soon"}, {"id": "e", "title": "E", "score": 11}, 3,
            {"id": "f", "title": "F", "genres": "Drama"}, {"id": "g/h", "title": "G"}, {"id": "top3", "title": "Top"},
            {"id": "i", "title": "I", "minutes": 0.5},
        ]}),
        "two-films.json": json.dumps({"name": "Two", "movies": [film, {"id": "b", "title": "B", "year": 1920, "score": 7}]}),
        "two-other-films.json": json.dumps({"movies": [{"id": "b", "title": "Other B"}, {"id": "c", "title": "C"}]}),
        "array.json": json.dumps([film]),
        "one-wrong.json": json.dumps({"movies": [film, {"id": "x"}]}),
    }


FEEDS = {
    "feed.rss": """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>A feed</title>
<item><title>First &amp; best</title><guid>https://example.org/1</guid><link>https://example.org/1.html</link>
<description>&lt;p&gt;A &lt;b&gt;film&lt;/b&gt;.&lt;/p&gt;</description><pubDate>Wed, 04 Mar 1925 10:00:00 GMT</pubDate>
<media:thumbnail url="https://example.org/1.jpg" width="500" height="750"/><media:starRating average="8" max="10"/></item>
<item><guid>no-title</guid></item>
</channel></rss>
""",
    "feed.atom": """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>An Atom feed</title><link rel="next" href="https://example.org/page2"/>
<entry><id>urn:uuid:1</id><title>Entry</title><summary>Text</summary><link href="https://example.org/e"/></entry>
</feed>
""",
}

MANIFESTS = {
    "list.txt": "# two pictures\npictures/good.jpeg\npictures/small.png\n",
    "checked.txt": "pictures/good.jpeg sha256:" + "0" * 64 + "\n",
    "wrong.txt": "pictures/missing.jpeg\nftp://example.org/a.jpg\nhttp://example.org/a.jpg\n\n: : :\n",
    "manifest-wrong.json": json.dumps({"images": [{"url": "pictures/good.jpeg"}, {"sha256": "x"}, {"url": 7}, {"url": ""}]}),
    "no-images.json": '{"images": []}',
}

SETTINGS = {
    "keys": f"new {KEY}\nold {OLD_KEY}\n",
    "one-key": KEY + "\n",
    "short-key": "abcd\n",
    "no-key": "# nothing\n",
    "wrong-key": "a b c\n",
    "twice-key": f"a {KEY}\na {OLD_KEY}\n",
    "tokens": TOKENS,
    "short-token": "short\n",
    "wrong-token": "recorded token with spaces\n",
    "no-token": "# nothing\n",
    "changing-tokens": "old-token-01234567890123\n",
    "changing-sizes": "w92\n",
    "changing-keys": KEY + "\n",
    "sizes": "# listed\nw92\n100x100.fill\n",
    "wrong-sizes": "w92\nlarge\n",
    "no-sizes": "\n",
    "config-right/marquee/config": "# options\ncatalogue small.json\ntimeout = 30\nno-disk-cache\nport 8080\n",
    "config-wrong/marquee/config": "catalogue small.json\ntop-ten\n",
    "config-value/marquee/config": "timeout soon\n",
    "config-flag/marquee/config": "quiet perhaps\n",
    "config-empty/marquee/config": "catalogue\n",
}


# Pictures


def png(width, height):
    """A PNG with transparency. Its data is not compressed, so that each zlib writes the same bytes."""
    rows = b"".join(
        b"\0" + bytes(value for x in range(width) for value in (x * 4 % 256, y * 5 % 256, 128, min(255, x * 8)))
        for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"tEXt", b"Comment\0private"), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


def bmp(width, height):
    row = b"".join(bytes((x * 16 % 256, 64, 200)) for x in range(width)).ljust((width * 3 + 3) // 4 * 4, b"\0")
    head = struct.pack("<2sIHHI", b"BM", 54 + len(row) * height, 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 2835, 2835, 0, 0) + row * height


def with_exif(jpeg):
    """The JPEG with a segment of Exif (orientation 6) and a comment, as cameras write them."""
    directory = struct.pack("<HHHIHHI", 1, 0x0112, 3, 1, 6, 0, 0)
    exif = b"Exif\0\0" + b"II*\0\x08\0\0\0" + directory
    segments = [(0xE1, exif), (0xFE, b"taken at 52.5 N 13.4 E")]
    return jpeg[:2] + b"".join(struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data for kind, data in segments) + jpeg[2:]


def pictures():
    """Pictures by name. The end of a name is the subtype of its media type."""
    good = (SAMPLE / "posters" / "les-vampires.jpg").read_bytes()
    return {
        "good.jpeg": good,
        "progressive.jpeg": (SAMPLE / "posters" / "nosferatu.jpg").read_bytes(),
        "exif.jpeg": with_exif(good),
        "small.png": png(64, 48),
        "small.bmp": bmp(20, 10),
        "small.gif": bytes.fromhex("474946383961010001008000 00ff00000000002c00000000010001000002024401003b"),
        "small.webp": base64.b64decode("UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA="),
        "cut.jpeg": good[: len(good) // 2],
        "cut.png": png(64, 48)[:4000],
        "text.jpeg": b"this is not a picture\n",
    }


# Writing


def write(folder, origin):
    """Writes all files into a folder."""
    copy_sample(folder)
    files = wrong_files() | FEEDS | MANIFESTS | SETTINGS
    files["small.json"] = json.dumps(small_catalogue(origin), ensure_ascii=False, indent=1)
    files |= {f"pictures/{name}": data for name, data in pictures().items()}
    files |= served_folders(files)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    os.symlink("../pictures/good.jpeg", folder / "shelf" / "linked.jpeg")
    # The program names files of secrets that others can read.
    for name in SETTINGS:
        (folder / name).chmod(0o600)
    date(folder)


def copy_sample(folder):
    (folder / "sample-data").mkdir()
    for name in ["movies.json", "movies.xml", "manifest.json", "manifest.txt"]:
        shutil.copy(SAMPLE / name, folder / "sample-data" / name)
    shutil.copytree(SAMPLE / "posters", folder / "sample-data" / "posters")


def served_folders(files):
    """The folders that services serve."""
    film = {"id": "shelved", "title": "Shelved", "year": 1921, "poster": "good.jpeg", "media": "film.bin"}
    films = {"name": "Shelf", "movies": [film, {"id": "other", "title": "Other", "poster": "https://192.0.2.1/a.jpg"}]}
    good = pictures()["good.jpeg"]
    return {
        # A catalogue, pictures, and files that nobody may see.
        "shelf/movies.json": json.dumps(films, indent=1),
        "shelf/good.jpeg": good,
        "shelf/below/small.png": pictures()["small.png"],
        "shelf/list.txt": "good.jpeg\n",
        "shelf/images.json": '{"images": [{"url": "below/named.dat"}]}',
        "shelf/below/named.dat": "named by the list\n",
        "shelf/film.bin": "a film\n",
        "shelf/secret.txt": "the password is here\n",
        "shelf/settings.json": '{"key": "secret"}',
        "shelf/.hidden.json": json.dumps(films),
        "shelf/script.py": "print(1)\n",
        # Two catalogues with unusual names.
        "pair/one.json": json.dumps(films),
        "pair/two.xml": '<catalogue name="Two"><movie id="t"><title>T</title></movie></catalogue>',
        "pair/other.txt": "no catalogue\n",
        # A page of its own.
        "paged/movies.xml": '<catalogue name="Paged"><movie id="p"><title>P</title></movie></catalogue>',
        "paged/index.html": "<!DOCTYPE html>\n<title>Own page</title>\n",
        # No catalogue at all, and one that cannot be read.
        "bare/good.jpeg": good,
        "broken/movies.json": files["malformed.json"],
        # A catalogue that a case breaks and repairs.
        "changing/movies.json": json.dumps(films),
    }


def date(folder):
    """Gives all files the fixed time."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, ns=(WRITTEN, WRITTEN))
