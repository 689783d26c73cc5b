"""Films over REST: creating, replacing, changing and removing films, posters and votes; tokens; and what is refused."""

import json

from cases import Ask, Site, Tag, ask, file_part, get, multipart, part, raw, send
from running import TOKEN
from samples import HOSTILE, pictures

JSON, XML, FORM = "application/json", "application/xml", "application/x-www-form-urlencoded"
MERGE = "application/merge-patch+json"
PARTS = "multipart/form-data; boundary=b"
WRITER = {"Authorization": f"Bearer {TOKEN}"}
# The beginning of a raw request, behind its target.
HEAD = f"HTTP/1.1\nHost: localhost\nConnection: close\nAuthorization: Bearer {TOKEN}\n"


def sites(place):
    return [
        Site(
            "without token", without_token(), serve="'without token.db' --writable --token-file tokens", library="small.db"),
        Site("creating", creating(), serve="creating.db --writable --token-file tokens", library="small.db", fields=WRITER),
        Site("bodies", bodies(), serve="bodies.db --writable --token-file tokens", library="small.db", fields=WRITER),
        Site("changing", changing(), serve="changing.db --writable --token-file tokens", library="small.db", fields=WRITER),
        Site("posters", posters(), serve="posters.db --writable --token-file tokens", library="small.db", fields=WRITER),
        Site(
            "kept metadata", kept_metadata(), serve="'kept metadata.db' --writable --token-file tokens --keep-metadata",
            library="small.db", fields=WRITER),
        Site("rating", rating(), serve="rating.db --writable --token-file tokens", library="small.db", fields=WRITER),
    ]


def without_token():
    film = '{"title":"A"}'
    refused = [
        send("POST", "create", "/films", film, JSON),
        send("POST", "create in XML", "/films.xml", film, JSON),
        send("PUT", "replace", "/films/plain", film, JSON),
        send("PATCH", "change", "/films/plain", film, JSON),
        ask("DELETE", "remove", "/films/plain"),
        send("PUT", "a poster", "/films/plain/poster", b"x", "image/png"),
        ask("DELETE", "remove a poster", "/films/nosferatu/poster"),
        send("PUT", "a vote", "/films/plain/ratings/anna", '{"value":7}', JSON),
        ask("DELETE", "remove a vote", "/films/plain/ratings/anna"),
    ]
    wrong = {
        "a wrong token": "Bearer recorded-token-9999999999", "an empty token": "Bearer ", "another scheme": "Basic YTpi",
        "a token in capitals": f"BEARER {TOKEN}", "two words": f"Bearer {TOKEN} x",
    }
    sites = {
        "from another site": {"Origin": "http://evil.example"}, "from another port": {"Origin": "http://localhost:81"},
        "from no site": {"Origin": "null"}, "from another site's page": {"Sec-Fetch-Site": "cross-site"},
        "from the same site": {"Sec-Fetch-Site": "same-site"},
        "from its own page": {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"},
    }
    return refused + [
        *[send("POST", name, "/films", film, JSON, Authorization=value) for name, value in wrong.items()],
        *[Ask(f"with the token {name}", "/films", "POST", film.encode(), {"Content-Type": JSON} | WRITER | fields)
          for name, fields in sites.items()],
        send("POST", "with the second token", "/films", film, JSON, Authorization="Bearer another-token-0123456789+/="),
        send("POST", "for another host", "/films", film, JSON, Host="evil.example", **WRITER),
        get("reading needs no token", "/films/plain"),
        get("reading with a wrong token", "/films/plain", Authorization="Bearer x"),
    ]


def creating():
    def post(name, members, type=JSON, **fields):
        body = members if isinstance(members, str) else json.dumps(members)
        return send("POST", name, "/films", body, type, **fields)

    ids = {
        "with a slash": "a/b", "of the service": "top3", "with an ending": "film.json", "of control characters": "a\nb",
        "too long": "x" * 201, "empty": "", "with dots": "..", "in other letters": "Ω α",
    }
    wrong = {
        "no title": {}, "an empty title": {"title": ""}, "a blank title": {"title": "  "},
        "a title of another type": {"title": 7}, "a year as text": {"title": "A", "year": "1920"},
        "a year before film": {"title": "A", "year": 1799},
        "half a year": {"title": "A", "year": 1920.5}, "a high score": {"title": "A", "score": 10.1},
        "a negative score": {"title": "A", "score": -1}, "no minutes": {"title": "A", "minutes": 0},
        "genres as text": {"title": "A", "genres": "Drama"}, "a genre of another type": {"title": "A", "genres": [1]},
        "a director as a list": {"title": "A", "director": ["B"]}, "a poster of another type": {"title": "A", "poster": 1},
        "everything wrong": {
            "title": 1, "year": "x", "minutes": -1, "genres": 2, "score": "x", "director": 3, "overview": []},
        "an id as a list": {"title": "A", "id": []}, "half an id": {"title": "A", "id": 1.5},
    }
    return [
        post("a film", {"title": "Faust", "year": 1926}),
        post("the same film again", {"title": "Faust", "year": 1926}),
        post("a film with an id", {"id": "faust-again", "title": "Faust", "score": 8}),
        post("an id that is taken", {"id": "faust-again", "title": "Other"}),
        post("an id that is taken, in XML", {"id": "faust-again", "title": "Other"}, Accept=XML),
        post("an id that is a number", {"id": 17, "title": "Number"}),
        post("an id that is null", {"id": None, "title": "Null"}),
        *[post(f"an id {name}", {"id": id, "title": "A"}) for name, id in ids.items()],
        post("a film in an object", {"film": {"title": "Wrapped", "year": 1927}}),
        post("all members", {
            "title": HOSTILE, "originalTitle": "Ö", "year": 9999, "director": "D", "country": "C", "minutes": 100000,
            "genres": ["a", "b"], "overview": "1\n2", "score": 10, "media": "/films/a.mp4", "page": "x", "poster": "a b.jpg",
            "other": {"x": [True, None, 1.10]}, "rating": 3, "votes": 100, "created_at": "2000-01-01T00:00:00.000Z"}),
        post("members that are null", {"title": "Nulls", "year": None, "director": None, "other": None}),
        post("a title without letters", {"title": "!!!"}),
        post("a long title", {"title": "Long " * 100}),
        post("an answer in XML", {"title": "Answered in XML"}, Accept="application/xml"),
        post("an answer that nobody takes", {"title": "Never"}, Accept="image/png"),
        *[post(f"refused: {name}", members) for name, members in wrong.items()],
        post("refused in XML: everything wrong", wrong["everything wrong"], Accept=XML),
        post("numbers as they are written", '{"title":"Numbers","score":7.50,"a":1E2,"b":-0,"c":0.1e-5}'),
        post("escaped text", r'{"title":"A\u00e9\ud83d\ude00\/\n","x\u0041":1}'),
        get("the list at the end", "/films?sort=title&limit=1000"),
    ]


def bodies():
    """Bodies that break the grammar of their type, and types that are not taken."""
    def post(name, body, type=JSON, **fields):
        return send("POST", name, "/films", body, type, **fields)

    form = multipart(part("title", "Parts"), part("year", "1920"))
    title, no_picture = part("film[title]", "With a poster"), file_part("poster", "p.png", "image/png", b"no picture")
    poster = file_part("poster", "p.png", "image/png", pictures()["small.png"])
    exif = file_part("film[poster]", "e.jpg", "image/jpeg", pictures()["exif.jpeg"])
    return [
        post("JSON: nothing", ""),
        post("JSON: a comma too many", '{"title": "A",\n  "year": 1920,\n}'),
        post("JSON: cut off", '{"title": "A'),
        post("JSON: no quotes", "{title: 1}"),
        post("JSON: two values", '{"title":"A"} {"title":"B"}'),
        post("JSON: an array", '[{"title":"A"}]'),
        post("JSON: text", '"A"'),
        post("JSON: a member twice", '{"title":"A","title":"B"}'),
        post("JSON: a number with a zero", '{"title":"A","year":01920}'),
        post("JSON: a number without an end", '{"title":"A","year":1.}'),
        post("JSON: too large a number", '{"title":"A","x":1e999}'),
        post("JSON: half a pair", r'{"title":"\ud800"}'),
        post("JSON: a wrong escape", r'{"title":"\x"}'),
        post("JSON: a control character", '{"title":"A\x01"}'),
        post("JSON: a byte order mark", b'\xef\xbb\xbf{"title":"Marked"}'),
        post("JSON: a zero byte", b'{"title":"A\0"}'),
        post("JSON: not UTF-8", b'{"title":"\xe9"}'),
        post("JSON: UTF-16", '{"title":"A"}'.encode("utf-16")),
        post("JSON: deep", '{"title":"A","x":' + "[" * 2000 + "]" * 2000 + "}"),
        post("JSON: XML instead", "<movie><title>A</title></movie>"),
        post("JSON: problem in XML", "{", Accept="application/xml"),
        post("JSON: 1000 members", json.dumps({"title": "A thousand"} | {f"m{n}": n for n in range(999)})),
        post("JSON: 1001 members", json.dumps({"title": "Too many"} | {f"m{n}": n for n in range(1000)})),
        post("JSON: 256 KiB", json.dumps({"title": "Too large", "x": "y" * (256 << 10)})),
        raw("JSON: longer than allowed", f"POST /films {HEAD}Content-Type: application/json\nContent-Length: 2000000\n\n"),
        raw("no body", f"POST /films {HEAD}Content-Type: application/json\n\n"),
        raw("in chunks", f"POST /films {HEAD}Content-Type: application/json\nTransfer-Encoding: chunked\n\n"
            '8\n{"title"\nb;x=y\n:"Chunked"}\n0\nTrailer: a\n\n'),
        raw("after 100 Continue", f"POST /films {HEAD}Content-Type: application/json\nContent-Length: 19\n"
            'Expect: 100-continue\n\n{"title":"Waited"} '),
        *[post(f"type: {type}", '{"title":"A"}', type) for type in [
            "text/plain", "text/json", "application/json; charset=latin1", "application/json; charset=UTF-8", "json", "",
            "application/x-www-form-urlencoded; charset=utf-8", "multipart/form-data", MERGE]],
        post("type: none", '{"title":"A"}', None),
        raw("type: two", f"POST /films {HEAD}Content-Type: application/json\nContent-Type: application/xml\n"
            "Content-Length: 2\n\n{}"),
        post("type: compressed", '{"title":"A"}', Content_Encoding="gzip"),
        post("type: not compressed", '{"title":"Identity"}', Content_Encoding="identity"),
        post("XML: a film", '<movie id="xml"><title> XML </title><year>1920</year><genres><genre>A</genre><genre>B</genre>'
             '</genres><score>7.5</score><seen type="boolean">true</seen><member name="last seen">2026</member>'
             '<n><a b="c">d</a></n></movie>', XML),
        post("XML: a film as text", "<film><title>Text &amp; &#233;</title></film>", "text/xml"),
        post("XML: a film in a catalogue", "<catalogue><movie><title>In a catalogue</title></movie></catalogue>", XML),
        post("XML: two films", "<catalogue>\n<movie><title>A</title></movie><movie><title>B</title></movie>"
             "</catalogue>", XML),
        post("XML: no film", "<catalogue/>", XML),
        post("XML: another root", "\n<song><title>A</title></song>", XML),
        post("XML: not closed", "<movie>\n<title>A</movie>", XML),
        post("XML: cut off", "<movie><title>A", XML),
        post("XML: a wrong name", "<movie><1/></movie>", XML),
        post("XML: an entity", "<movie><title>&nbsp;</title></movie>", XML),
        post("XML: a document type", '<!DOCTYPE movie [<!ENTITY a "b">]><movie><title>&a;</title></movie>', XML),
        post("XML: another encoding", '<?xml version="1.0" encoding="ISO-8859-1"?><movie><title>A</title></movie>', XML),
        post("XML: nothing", "", XML),
        post("XML: JSON instead", '{"title":"A"}', XML),
        post("XML: an attribute twice", '<movie id="a" id="b"><title>A</title></movie>', XML),
        post("XML: a year as text", "<movie><title>A</title><year>soon</year></movie>", XML),
        post("XML: empty elements", "<movie><title>Empty</title><year/><director></director><other/></movie>", XML),
        post("form: a film", "title=Form&year=1921&genres=A&genres=B+C&score=7.5&other=%C3%A9", FORM),
        post("form: a wrapped film", "film[title]=Wrapped+form&film[genres][]=A&film[genres][]=B&title=ignored", FORM),
        post("form: a title twice", "title=A&title=B", FORM),
        post("form: a deep field", "film[title]=A&film[a][b]=c", FORM),
        post("form: a year as text", "title=A&year=soon", FORM),
        post("form: bad encoding", "title=%zz", FORM),
        post("form: not UTF-8", "title=%ff", FORM),
        post("form: nothing", "", FORM),
        post("form: JSON instead", '{"title":"A"}', FORM),
        post("form: empty values", "title=Empty+values&year=&director=", FORM),
        post("form: too many fields", "&".join(f"a{n}=1" for n in range(5000)), FORM),
        post("parts: a film", form, PARTS),
        post("parts: a poster", multipart(title, poster), PARTS),
        post("parts: a poster with metadata", multipart(part("film[title]", "Exif"), exif), PARTS),
        post("parts: two posters", multipart(title, poster, poster), PARTS),
        post("parts: an empty poster", multipart(
            part("title", "No poster"), file_part("poster", "", "application/octet-stream", b"")), PARTS),
        post("parts: a poster that is none", multipart(title, no_picture), PARTS),
        post("parts: a film in JSON", multipart(
            part("film", '{"title":"JSON part"}', "application/json"), part("year", "1922")), PARTS),
        post("parts: a film in XML", multipart(
            part("film", "<movie><title>XML part</title></movie>", "text/xml")), PARTS),
        post("parts: a film that is broken", multipart(part("film", "{")), PARTS),
        post("parts: text that is not UTF-8", multipart(part("title", b"\xff")), PARTS),
        post("parts: no end", form[:-6], PARTS),
        post("parts: another boundary", form, "multipart/form-data; boundary=c"),
        post("parts: a wrong boundary", form, 'multipart/form-data; boundary="a b "'),
        post("parts: no name", multipart(("Content-Disposition: form-data", b"x")), PARTS),
        get("a poster from a form", "/films/with-a-poster/poster"),
        get("a poster without its metadata", "/films/exif/poster"),
    ]


def changing():
    film = json.dumps({"title": "Replaced", "year": 1940})

    def put(name, target, body=film, type=JSON, **fields):
        return send("PUT", name, target, body, type, **fields)

    def patch(name, target, body, type=MERGE, **fields):
        return send("PATCH", name, target, body, type, **fields)

    poster = file_part("poster", "p", "image/png", pictures()["small.png"])
    return [
        put("replace", "/films/plain"),
        put("replace with the same", "/films/plain"),
        put("replace, answered in XML", "/films/plain.xml"),
        put("a new film", "/films/new"),
        put("a new film with its id", "/films/newer", '{"id":"newer","title":"Newer"}'),
        put("another id than the path's", "/films/plain", '{"id":"other","title":"A"}'),
        put("an id of the service", "/films/top"),
        put("an id that is too long", "/films/" + "x" * 201),
        put("a film with faults", "/films/plain", '{"year":1}'),
        put("a merge patch", "/films/plain", type=MERGE),
        put("from XML", "/films/plain", "<movie><title>From XML</title></movie>", XML),
        put("from a form", "/films/plain", "title=From+a+form", FORM),
        put("with the tag", "/films/plain", If_Match=Tag("/films/plain")),
        put("with the tag in XML", "/films/plain", If_Match=Tag("/films/plain.xml")),
        put("with an old tag", "/films/plain", If_Match='"1000000000001.json"'),
        put("with an old tag, answered in XML", "/films/plain.xml", If_Match='"1000000000001.json"'),
        put("with any tag", "/films/plain", If_Match="*"),
        put("with any tag, of no film", "/films/nothing", If_Match="*"),
        put("only if there is none", "/films/plain", If_None_Match="*"),
        put("only if there is none, and there is none", "/films/fresh", If_None_Match="*"),
        put("with a tag that is none", "/films/plain", If_Match="abc"),
        put("its poster stays", "/films/nosferatu", '{"title":"Nosferatu","poster":"nosferatu/poster"}'),
        put("its poster goes", "/films/nosferatu", '{"title":"Nosferatu"}'),
        put("a poster's address relative to the path", "/films/plain", '{"title":"Plain","poster":"../pictures/a.jpg"}'),
        get("a poster's address as it is stored", "/films/plain"),
        patch("change a member", "/films/members", '{"year":1931}'),
        patch("change a member as JSON", "/films/members", '{"year":1932}', JSON),
        patch("remove a member", "/films/members", '{"year":null,"tags":null}'),
        patch("merge an object", "/films/members", '{"notes":{"deep":{"list":null,"more":1}}}'),
        patch("change nothing", "/films/members", "{}"),
        patch("remove the title", "/films/members", '{"title":null}'),
        patch("a fault", "/films/members", '{"score":11,"year":"x"}'),
        patch("change the id", "/films/members", '{"id":"other"}'),
        patch("keep the id", "/films/members", '{"id":"members","year":1933}'),
        patch("an array", "/films/members", "[1]"),
        patch("by a form", "/films/members", "film[director]=Somebody&film[year]=", FORM),
        patch("by XML", "/films/members", "<movie><country>France</country><director/></movie>", XML),
        patch("by text", "/films/members", "a", "text/plain"),
        patch("a form with a poster", "/films/members", multipart(poster), PARTS),
        patch("remove the poster", "/films/members", '{"poster":null}'),
        patch("a poster at a host that is not listed", "/films/members", '{"poster":"https://unlisted.example/a.jpg"}'),
        get("a poster at a host that is not listed, read", "/films/members/poster"),
        get("a poster at a host that is not listed, at a size", "/films/members/poster/w92"),
        patch("a poster at the service's own host", "/films/members", '{"poster":"http://localhost/pictures/ä b.jpg"}'),
        get("a poster at the service's own host, read", "/films/members/poster"),
        patch("no film", "/films/nothing", "{}"),
        patch("change with the tag", "/films/members", '{"year":1934}', If_Match=Tag("/films/members")),
        patch("change with an old tag", "/films/members", "{}", If_Match='"1.json"'),
        patch("votes stay", "/films/voted", '{"rating":1,"votes":1,"created_at":"x"}'),
        ask("DELETE", "remove with an old tag", "/films/hostile", If_Match='"1.json"'),
        ask("DELETE", "remove with the tag", "/films/hostile", If_Match=Tag("/films/hostile")),
        ask("DELETE", "remove again", "/films/hostile"),
        ask("DELETE", "remove again, in XML", "/films/hostile.xml"),
        ask("DELETE", "remove for a client that takes nothing", "/films/voted", Accept="image/png"),
        send("DELETE", "remove with a body", "/films/script", "a body", "text/plain"),
        get("the list at the end", "/films"),
    ]


def posters():
    files = pictures()

    def put(name, id, data, type="image/png", **fields):
        return send("PUT", name, f"/films/{id}/poster", data, type, **fields)

    return [
        *[put(f"store {name}", "plain", files[name], "image/" + name.rpartition(".")[2])
          for name in ["small.png", "exif.jpeg", "small.gif", "small.bmp", "small.webp", "progressive.jpeg"]],
        get("the stored poster", "/films/plain/poster"),
        get("its film", "/films/plain"),
        put("of another type than it says", "plain", files["small.png"], "image/jpeg"),
        put("without metadata", "plain", files["exif.jpeg"], "image/jpeg"),
        get("the poster without metadata", "/films/plain/poster"),
        get("the poster at a size, turned", "/films/plain/poster/w92"),
        put("as bytes", "plain", files["small.png"], "application/octet-stream"),
        put("without a type", "plain", files["small.png"], None),
        put("as text", "plain", files["small.png"], "text/plain"),
        put("as text, in XML", "plain", files["small.png"], "text/plain", Accept=XML),
        put("compressed", "plain", files["small.png"], Content_Encoding="gzip"),
        *[put(f"wrong: {name}", "plain", files[name]) for name in ["cut.jpeg", "cut.png", "text.jpeg"]],
        put("wrong: nothing", "plain", b""),
        put("of no film", "nothing", files["small.png"]),
        put("only if there is none", "plain", files["small.png"], If_None_Match="*"),
        put("only if there is none, and there is none", "voted", files["small.png"], If_None_Match="*"),
        put("with its tag", "voted", files["small.gif"], If_Match=Tag("/films/voted/poster")),
        put("with an old tag", "voted", files["small.gif"], If_Match='"old"'),
        raw("too long", f"PUT /films/plain/poster {HEAD}Content-Type: image/png\nContent-Length: 99999999\n\n"),
        put("in place of an address", "elsewhere", files["small.png"]),
        ask("DELETE", "remove an address", "/films/refused/poster"),
        ask("DELETE", "remove with an old tag", "/films/plain/poster", If_Match='"old"'),
        ask("DELETE", "remove", "/films/plain/poster"),
        ask("DELETE", "remove again", "/films/plain/poster"),
        ask("DELETE", "remove of no film", "/films/nothing/poster"),
        get("the list at the end", "/films"),
    ]


def kept_metadata():
    return [
        send("PUT", "store", "/films/plain/poster", pictures()["exif.jpeg"], "image/jpeg"),
        get("the poster with its metadata", "/films/plain/poster"),
    ]


def rating():
    def put(name, body, type=JSON, rater="anna", id="plain", **fields):
        return send("PUT", name, f"/films/{id}/ratings/{rater}", body, type, **fields)

    votes = {
        "text": '{"value":"8"}', "too high": '{"value":10.5}', "too low": '{"value":-1}', "none": "{}",
        "null": '{"value":null}', "no object": "7", "broken": "{", "a list": '{"value":[7]}',
    }
    return [
        put("a vote", '{"value":8.5}'),
        put("the same vote", '{"value":8.5}'),
        put("another vote", '{"value":7}'),
        put("a wrapped vote", '{"rating":{"value":6}}'),
        put("answered in XML", '{"value":10}', rater="bert.xml"),
        put("answered in XML by Accept", '{"value":0}', rater="carl", Accept=XML),
        put("in XML", "<rating><value>4.5</value></rating>", XML, rater="dora"),
        put("in a form", "value=3", FORM, rater="emil"),
        put("in parts", multipart(part("value", "3")), PARTS),
        put("by a name with letters", '{"value":1}', rater="Zo%C3%AB%20%26"),
        put("by a name with a slash", '{"value":1}', rater="a%2Fb"),
        put("by a name that is too long", '{"value":1}', rater="x" * 201),
        put("by a name with a control character", '{"value":1}', rater="a%01"),
        put("for a film with votes of its own", '{"value":0}', id="voted"),
        *[put(f"wrong: {name}", body) for name, body in votes.items()],
        put("wrong, in XML", "<rating><value>x</value></rating>", XML, Accept=XML),
        put("wrong: another root", "<vote><value>1</value></vote>", XML),
        put("wrong: a form without it", "score=1", FORM),
        put("too long", '{"value":8,"x":"' + "y" * 20_000 + '"}'),
        put("for no film", '{"value":8}', id="nothing"),
        get("read a vote", "/films/plain/ratings/anna"),
        get("read a vote in XML", "/films/plain/ratings/anna.xml"),
        get("read a vote as a page", "/films/plain/ratings/anna", Accept="text/html"),
        get("read no vote", "/films/plain/ratings/nobody"),
        ask("HEAD", "head of a vote", "/films/plain/ratings/anna"),
        get("the film with votes", "/films/plain"),
        get("the film with votes in XML", "/films/plain.xml"),
        get("the other film with votes", "/films/voted"),
        get("the best films", "/films/top/4"),
        ask("DELETE", "take back a vote", "/films/plain/ratings/anna"),
        ask("DELETE", "take it back again", "/films/plain/ratings/anna"),
        ask("DELETE", "take back a vote for no film", "/films/nothing/ratings/anna"),
        get("the film afterwards", "/films/plain"),
    ]
