"""Pictures at a size: each part of a recipe, each format, signatures, the rules for sources, and what a source may answer."""

import base64
import hashlib
import hmac

from cases import Ask, Site, Tag, ask, base64url, get, picture
from normal import FRESHNESS
from samples import KEY, OLD_KEY

# Parts of recipes, in the order of the documentation.
RECIPES = [
    "w92", "w5000", "x100", "100x100", "100x150.fill", "150x60.fill", "original", "w92.q60", "w92.q1", "w92.q100", "w92.png",
    "w92.v2", "w92.e9999999999", "w200.crop10-20-100x80", "w200.round12", "w200.circle", "w200.border2-ff8000",
    "w200.round12.border4-ff800080", "w200.blur3", "w200.mirror", "w200.turn90", "w200.turn180", "w200.turn270",
    "w200.pad8", "w200.pad8-ffffff",
    "w200.crop0-0-100x100.circle.border3-000000.pad4.mirror.turn90.blur1.round5.png.e9999999999.vtag-1_~",
]
WRONG_RECIPES = [
    "", "w0", "w92.", "W92", "w092", "w65536", "92", "x", "100x0", "w92.fill", "w92.q0", "w92.q101", "w92.q60.png",
    "original.q60", "original.png", "w92.jpeg", "w92.turn45", "w92.blur0", "w92.blur1001", "w92.round0", "w92.border2",
    "w92.border2-xyz", "w92.pad8-fffffff", "w92.crop1-2", "w92.v", "w92.v" + "x" * 65, "w92.e1.e2", "w92.png.q60", "w92.e", "w92.mirror" * 9,
    "w92.mirror.mirror.mirror.mirror.mirror.mirror.mirror.mirror.mirror",
]
FORMATS = ["good.jpeg", "progressive.jpeg", "exif.jpeg", "small.png", "small.gif", "small.bmp", "small.webp"]


def sites(place):
    origin = place.origin.address
    allowed = f"--source {origin} --allow-private 127.0.0.0/8"
    found = [
        Site("recipes", recipes(origin), serve=f"small.db {allowed} --sign-key-file keys"),
        Site("posters", posters(), serve=f"small.db {allowed}"),
        Site(
            "rules", rules(origin),
            serve=f"small.db {allowed} --source *.example.org --source example.net:8080 --sign-key-file keys"),
        Site("any source", any_source(origin), serve="small.db --sign-key-file one-key"),
        Site("without keys", without_keys(origin), serve=f"small.db {allowed} --sizes w92,100x100.fill"),
        Site("sizes of a file", sizes_of_a_file(origin), serve=f"small.db {allowed} --sizes-file sizes --no-disk-cache"),
        Site("sources", sources(origin), serve=f"small.db {allowed} --source 127.0.0.1:1"),
        Site("purged", purged(origin), serve=f"small.db {allowed} --admin 127.0.0.1:0 --drain 0 --cache-dir purged"),
        Site("stored", stored(origin), serve=f"small.db {allowed} --cache-dir purged"),
    ]
    for site in found:
        site.rules = FRESHNESS
    return found


def signature(recipe, source, key=KEY, name="new."):
    """The signature of an address, as `marquee sign` makes it."""
    code = hmac.new(bytes.fromhex(key), f"/{recipe}/{base64url(source)}".encode(), hashlib.sha256).digest()
    return name + base64.urlsafe_b64encode(code).decode().rstrip("=")


def signed(name, recipe, source, **fields):
    return picture(name, recipe, source, signature(recipe, source), **fields)


def recipes(origin):
    good, small = f"http://{origin}/good.jpeg", f"http://{origin}/small.png"
    return [
        *[signed(f"{recipe} of a JPEG", recipe, good) for recipe in RECIPES],
        *[signed(f"{recipe} of a PNG", recipe, small)
          for recipe in ["w30", "w30.q60", "w30.png", "30x30.fill", "w30.pad2-ffffff"]],
        *[signed(f"{recipe} of {name}", recipe, f"http://{origin}/{name}")
          for name in FORMATS for recipe in ["w10", "original"]],
        *[picture(f"wrong: {recipe or 'nothing'}", recipe, good) for recipe in WRONG_RECIPES],
        signed("a part outside of the picture", "w200.crop190-0-100x100", good),
        signed("more pixels than the limit", "65535x65535", good),
        signed("w92 again", "w92", good),
        signed("w92, not modified", "w92", good, If_None_Match="*"),
        signed("w92, with another tag", "w92", good, If_Match='"other"'),
        signed("a part of w92", "w92", good, Range="bytes=0-3"),
        signed("a part behind the end of w92", "w92", good, Range="bytes=99999-"),
        signed("head of w92", "w92", good, method="HEAD"),
        signed("options of w92", "w92", good, method="OPTIONS"),
        signed("post to w92", "w92", good, method="POST"),
    ]


def posters():
    path = "/films/nosferatu/poster"
    return [
        *[get(f"{size}", f"{path}/{size}") for size in ["w92", "w154", "w185", "w342", "w500", "w780", "original"]],
        get("again", f"{path}/w92"),
        get("with a tag", f"{path}/w92.v1"),
        get("with a tag, again", f"{path}/w92.v1"),
        get("with an end", f"{path}/w92.e9999999999"),
        get("with an end that has passed", f"{path}/w92.e1"),
        get("at a size that is not listed", f"{path}/w93"),
        get("at a size that is none", f"{path}/large"),
        get("with another quality", f"{path}/w92.q60"),
        get("with the usual quality", f"{path}/w92.q80"),
        get("not modified", f"{path}/w92", If_None_Match=Tag(f"{path}/w92")),
        get("a part", f"{path}/w92", Range="bytes=-2"),
        ask("HEAD", "head", f"{path}/w92"),
        get("of no film", "/films/nothing/poster/w92"),
        get("of a film without one", "/films/plain/poster/w92"),
        get("of a film whose poster is elsewhere", "/films/elsewhere/poster/w92"),
        get("of a film whose poster is elsewhere, the original", "/films/elsewhere/poster"),
        get("of a film whose poster may not be fetched", "/films/refused/poster/w92"),
        get("of a film whose poster is a script", "/films/script/poster/w92"),
        get("for a browser that takes no such film", "/films/nothing/poster/w92", Accept="text/html"),
    ]


def rules(origin):
    good, other = f"http://{origin}/good.jpeg", "https://other.example/a.jpg"

    def unsigned(name, source, recipe="w92"):
        return picture(name, recipe, source)

    return [
        unsigned("a listed size", good),
        unsigned("a size that is not listed", good, "w93"),
        unsigned("an end that has passed", good, "w92.e1000000000"),
        picture("a signature of the first key", "w93", good, signature("w93", good)),
        picture("a signature without the key's name", "w93", good, signature("w93", good, name="")),
        picture("a signature of the second key", "w93", good, signature("w93", good, OLD_KEY, "old.")),
        picture("a signature with another key's name", "w93", good, signature("w93", good, OLD_KEY, "new.")),
        picture("a signature of another key", "w93", good, signature("w93", good, "00" * 32)),
        picture("a signature of another recipe", "w94", good, signature("w93", good)),
        picture("a signature of another source", "w93", good + "?x", signature("w93", good)),
        picture("a signature of a listed size", "w92", good, signature("w92", good)),
        picture("a signature that is none", "w92", good, "abc"),
        picture("a signature with an end that has passed", "w93.e1", good, signature("w93.e1", good)),
        unsigned("another host", other),
        picture("another host with a signature", "w92", other, signature("w92", other)),
        unsigned("the domain of a pattern", "https://example.org/a.jpg"),
        unsigned("another port", "https://example.net/a.jpg"),
        unsigned("a third port", "http://example.net:81/a.jpg"),
        unsigned("another scheme", "ftp://example.org/a.jpg"),
        unsigned("a file", "file:///etc/passwd"),
        unsigned("data", "data:image/png;base64,AAAA"),
        unsigned("a password", f"http://user:password@{origin}/good.jpeg"),
        unsigned("an address without a scheme", "example.org/a.jpg"),
        unsigned("a relative address", "/a.jpg"),
        unsigned("a host in capitals", f"HTTP://{origin}/good.jpeg"),
        unsigned("a fragment", good + "#x"),
        unsigned("a space", good + "?a b"),
        get("a source that is not encoded", "/image/-/w92/***"),
        get("a source with padding", "/image/-/w92/" + base64url("https://example.org/a.jpg ") + "=="),
        get("too few parts", "/image/-/w92"),
        get("too many parts", "/image/-/w92/a/b"),
        get("no signature", "/image//w92/" + base64url("https://example.org/a.jpg")),
        get("nothing", "/image"),
        get("another host in Host", "/image/-/w92/x", Host="evil.example"),
        get("a query", f"/image/-/w92/{base64url(good)}?x=1"),
    ]


def any_source(origin):
    """A signature allows any host if none is listed. Private addresses stay refused."""
    literal = "https://192.0.2.1/a.jpg"
    addresses = {
        "a port of this machine": f"http://{origin}/good.jpeg", "a documentation address": literal,
        "a private address": "http://10.0.0.1/a.jpg", "this machine": "http://127.0.0.1/a.jpg",
        "this machine in IPv6": "http://[::1]/a.jpg",
    }
    return [
        *[picture(f"{name}, with a signature", "w92", source, signature("w92", source, name=""))
          for name, source in addresses.items()],
        picture("a host, without a signature", "w92", literal),
    ]


def without_keys(origin):
    good = f"http://{origin}/good.jpeg"
    return [
        picture("a listed size", "100x100.fill", good),
        picture("the usual size", "w342", good),
        picture("the original", "original", good),
        picture("a signature", "w92", good, signature("w92", good)),
        get("a poster", "/films/nosferatu/poster"),
        get("a poster elsewhere, which is not sent", "/films/elsewhere/poster"),
        get("a poster elsewhere, which may not be fetched", "/films/refused/poster"),
    ]


def sizes_of_a_file(origin):
    good = f"http://{origin}/good.jpeg"
    return [picture("a listed size", "100x100.fill", good), picture("the usual size", "w342", good)]


def sources(origin):
    """What a source may answer."""
    names = [
        "page.jpg", "empty.jpg", "gone.jpg", "forbidden.jpg", "locked.jpg", "missing.jpg", "moved.jpg", "away.jpg",
        "loop.jpg", "private.jpg", "unstored.jpg", "stale.jpg", "text.jpeg", "cut.jpeg", "cut.png",
    ]
    return [
        *[picture(f"{name}{again}", "w92", f"http://{origin}/{name}") for name in names for again in ["", ", again"]],
        picture("the original of what is no picture", "original", f"http://{origin}/text.jpeg"),
        picture("the original that is cut off", "original", f"http://{origin}/cut.jpeg"),
        picture("nobody listens", "w92", "http://127.0.0.1:1/a.jpg"),
    ]


def purged(origin):
    good = f"http://{origin}/good.jpeg"

    def purge(name, source):
        return Ask(name, f"/sources/{base64url(source)}", method="DELETE", asks_admin=True)

    return [
        picture("a picture", "w92", good),
        purge("purge it", good),
        picture("the picture afterwards", "w92", good),
        picture("another size", "w154", good),
        purge("purge another", good + "?x"),
        picture("a picture that stays", "w92", f"http://{origin}/small.png"),
    ]


def stored(origin):
    """The next service finds on disk what the one before has written. Its end waits for the last write."""
    return [
        picture("a picture from disk", "w92", f"http://{origin}/good.jpeg"),
        picture("another size from disk", "w154", f"http://{origin}/good.jpeg"),
        picture("a size made from the stored source", "w185", f"http://{origin}/good.jpeg"),
    ]
