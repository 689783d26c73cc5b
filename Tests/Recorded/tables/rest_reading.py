"""Films over REST, in JSON and XML: lists, films, posters, conditions, all methods of all routes, and the HTTP protocol."""

import json

from cases import Raw, Site, Tag, ask, base64url, get, raw
from running import TOKEN

XML = "application/xml"
WRITER = {"Authorization": f"Bearer {TOKEN}"}
METHODS = ["OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
# Each route, once for each method. Other cases have GET and HEAD.
ROUTES = [
    "*", "/", "/films", "/films/top3", "/films/top/2", "/films/plain", "/films/nosferatu/poster",
    "/films/nosferatu/poster/w92", "/films/plain/ratings/anna", "/soap", "/add", "/login", "/films/plain/edit",
    "/films/style/icon.svg", "/nothing",
]


def sites(place):
    return [
        Site("reading", reading(), serve="films.db"),
        Site("protocol", protocol(), serve="films.db"),
        Site("small", small(), serve="small.db"),
        Site(
            "methods", methods(["/films", "/films/plain", "/films/plain/ratings/anna", "/soap", "/add"]), serve="small.db",
            records_end=False),
        Site(
            "writable methods", methods(ROUTES), serve="'writable methods.db' --writable --token-file tokens",
            library="small.db", fields=WRITER, records_end=False),
    ]


def cursor(*values):
    """The cursor of a page, as a service writes it."""
    return base64url(json.dumps(values, separators=(",", ":"), ensure_ascii=False))


def reading():
    etag = Tag("/films?limit=2")
    return [
        get("all films", "/films"),
        get("two films", "/films?limit=2"),
        get("films in XML by the ending", "/films.xml?limit=2"),
        get("films in JSON by the ending", "/films.json?limit=1", Accept=XML),
        get("films in XML by Accept", "/films?limit=1", Accept=XML),
        get("films in XML as text", "/films?limit=1", Accept="text/xml;q=0.9, application/json;q=0.5"),
        get("films for any client", "/films?limit=1", Accept="*/*"),
        get("films for a client that takes only pictures", "/films", Accept="image/png"),
        get("films for a client that refuses JSON", "/films?limit=1", Accept="application/json;q=0, */*"),
        get("the root", "/?limit=1"),
        get("the root as a catalogue", "/movies.json?limit=1"),
        get("the root as a catalogue in XML", "/movies.xml?limit=1"),
        get("another name at the root", "/other.json"),
        *[get(f"by {sort}", f"/films?sort={sort}&limit=3") for sort in ["catalogue", "score", "year", "title"]],
        get("by catalogue, a later page", f"/films?sort=catalogue&limit=2&after={cursor('catalogue', 34)}"),
        get("by score, a later page", f"/films?sort=score&limit=2&after={cursor('score', -7.3, 'greed', 'greed')}"),
        get("by year, a later page", f"/films?sort=year&limit=2&after={cursor('year', 1928, 'the wind', 'the-wind')}"),
        get("by title, a later page", f"/films?sort=title&limit=2&after={cursor('title', 'the wind', 'the-wind')}"),
        get("by title, the page before", f"/films?sort=title&limit=2&before={cursor('title', 'b', '')}"),
        get("a page before and after", f"/films?limit=1&after={cursor('catalogue', 3)}&before={cursor('catalogue', 9)}"),
        get("an empty cursor", "/films?limit=1&after="),
        get("a cursor of another order", f"/films?sort=year&limit=1&after={cursor('catalogue', 3)}"),
        get("a cursor that is none", "/films?after=xyz"),
        get("a cursor that is none, in XML", "/films.xml?after=xyz"),
        get("a cursor behind the last film", f"/films?after={cursor('catalogue', 1000)}"),
        *[get(f"limit {limit}", f"/films?limit={limit}") for limit in ["0", "1001", "-1", "two", "", "1e2",
            "99999999999999999999"]],
        get("limit 1000", "/films?limit=1000"),
        get("limit with a leading zero", "/films?limit=01"),
        get("limit twice", "/films?limit=1&limit=2"),
        get("an unknown order", "/films?sort=length"),
        get("an order twice", "/films?sort=year&sort=title"),
        get("an unknown parameter", "/films?limit=1&colour=red"),
        get("a search", "/films?q=murnau"),
        get("a search in XML", "/films.xml?q=moon"),
        get("a search with accents left out", "/films?q=haxan"),
        get("a search of two words", "/films?q=lang+1927"),
        get("a search by title, by page", "/films?q=the&sort=title&limit=1"),
        get("a search for one letter", "/films?q=z"),
        get("a search without a hit", "/films?q=nothing+at+all"),
        get("a search for signs", "/films?q=%25_%22'%5C"),
        get("a search twice", "/films?q=a&q=b"),
        get("an empty search", "/films?q=&limit=1"),
        get("top 3", "/films/top3"),
        get("top 3 in XML", "/films/top3.xml"),
        get("top 1", "/films/top/1"),
        get("top 2 in XML", "/films/top/2.xml"),
        get("top 10000", "/films/top/10000"),
        *[get(f"top {count}", f"/films/top/{count}") for count in ["0", "10001", "x", "-1"]],
        get("a film", "/films/metropolis"),
        get("a film in JSON", "/films/metropolis.json"),
        get("a film in XML", "/films/metropolis.xml"),
        get("a film in XML by Accept", "/films/metropolis", Accept="application/xml"),
        get("a film with an ending in capitals", "/films/metropolis.XML"),
        get("a film with a letter that is encoded", "/films/H%C3%A4xan"),
        get("a film with a query", "/films/metropolis?x=1"),
        get("no such film", "/films/nothing"),
        get("no such film in XML", "/films/nothing.xml"),
        get("no such film by Accept of problems", "/films/nothing", Accept="application/problem+xml"),
        get("a film in capitals", "/films/METROPOLIS"),
        get("a film that only takes text", "/films/metropolis", Accept="text/plain"),
        get("a film without a name", "/films/"),
        get("a film with a slash at its end", "/films/metropolis/"),
        get("something below a film", "/films/metropolis/nothing"),
        get("the poster", "/films/metropolis/poster"),
        get("the poster that is there already", "/films/metropolis/poster", If_None_Match=Tag("/films/metropolis/poster")),
        get("the first bytes of the poster", "/films/metropolis/poster", Range="bytes=0-9"),
        get("the last bytes of the poster", "/films/metropolis/poster", Range="bytes=-4"),
        get("two parts of the poster", "/films/metropolis/poster", Range="bytes=0-1,4-5"),
        get("a part behind the poster's end", "/films/metropolis/poster", Range="bytes=999999-"),
        get("a part in another unit", "/films/metropolis/poster", Range="lines=0-9"),
        get("a part if the poster is the same", "/films/metropolis/poster", Range="bytes=0-9",
            If_Range=Tag("/films/metropolis/poster")),
        get("a part if the poster is another", "/films/metropolis/poster", Range="bytes=100000-", If_Range='"other"'),
        get("a part of a film", "/films/metropolis", Range="bytes=0-9"),
        get("the poster of no film", "/films/nothing/poster"),
        get("a vote that is not there", "/films/metropolis/ratings/anna"),
        get("a vote for no film", "/films/nothing/ratings/anna"),
        get("the stylesheet", "/films/style/other.css"),
        get("the stylesheet, compressed", "/films/style/other.css", Accept_Encoding="gzip"),
        get("the icon", "/films/style/icon.svg"),
        get("another file of the pages", "/films/style/other.js"),
        get("not modified", "/films?limit=2", If_None_Match=etag),
        get("not modified, weakly", "/films?limit=2", If_None_Match='W/"1000000000001.json", "x"'),
        get("not modified, any tag", "/films/metropolis", If_None_Match="*"),
        get("modified", "/films?limit=2", If_None_Match='"other"'),
        get("not modified in another format", "/films.xml?limit=2", If_None_Match=etag),
        get("the tag must match, and does", "/films/metropolis", If_Match=Tag("/films/metropolis")),
        get("the tag must match, and does not", "/films/metropolis", If_Match='"other"'),
        get("the tag must match, in XML", "/films/metropolis.xml", If_Match='"other"'),
        get("compressed", "/films/style/icon.svg", Accept_Encoding="gzip"),
        get("a compressed list", "/films?limit=5", Accept_Encoding="br, gzip;q=0.5"),
        get("not compressed, since it is refused", "/films?limit=5", Accept_Encoding="gzip;q=0, *;q=0"),
        get("compressed, since anything will do", "/films.xml?limit=5", Accept_Encoding="*"),
        get("not compressed, since it is short", "/films/metropolis", Accept_Encoding="gzip"),
        get("compressed and not modified", "/films?limit=5", Accept_Encoding="gzip",
            If_None_Match='"1000000000001.json.gzip"'),
        ask("HEAD", "head of a list", "/films?limit=2"),
        ask("HEAD", "head of a film in XML", "/films/metropolis.xml"),
        ask("HEAD", "head of a poster", "/films/metropolis/poster"),
        ask("HEAD", "head of no film", "/films/nothing"),
        get("by an address of this machine", "/films?limit=1", Host="127.0.0.1:99"),
        get("by an address of IPv6", "/films?limit=1", Host="[::1]:8080"),
        get("by the name of another site", "/films", Host="evil.example"),
        get("by the name of another site, in XML", "/films.xml", Host="evil.example:80"),
        get("by a name that is none", "/films", Host="a b"),
        get("with another site's authority", "http://evil.example/films"),
        get("with its own authority", "http://localhost/films/metropolis"),
        *[get(f"the path {path}", path) for path in [
            "/films/%zz", "/films/%00", "/films/%ff", "/films/a%2Fb", "/films/../films", "//films", "/films//poster",
            "/FILMS", "/films/%2e%2e/x", "/films?q=%zz", "/films?limit=%31"]],
    ]


def small():
    """Films with all kinds of members."""
    ids = ["plain", "nosferatu", "hostile", "members", "voted", "elsewhere", "refused", "script", "el-camion"]
    odd = "%C3%9Cn%C3%AF%20c%C3%B6d%C3%A9%20%2B%26%3F%23"
    return [
        *[get(f"{id} in {form}", f"/films/{id}.{form}") for id in [*ids, odd] for form in ["json", "xml"]],
        *[get(f"the poster of {id}", f"/films/{id}/poster") for id in [*ids, odd]],
        *[get(f"a small poster of {id}", f"/films/{id}/poster/w92") for id in ["plain", "elsewhere", "refused", "script"]],
        *[get(f"all by {sort} in XML", f"/films.xml?sort={sort}") for sort in ["catalogue", "score", "year", "title"]],
        *[get(f"a search for {text}", f"/films?q={text}")
          for text in ["camion", "angstrom", "epopee", "script", "%C3%A9pop"]],
        get("top 3", "/films/top3"),
    ]


def methods(routes):
    names = {"*": "everything", "/": "the root"}
    bodies = ["POST", "PUT", "PATCH"]
    return [
        ask(method, f"{method} of {names.get(route, route)}", route, Content_Length="0" if method in bodies else None)
        for route in routes for method in METHODS]


def protocol():
    head = "Host: localhost\nConnection: close\n"
    long = "x" * 20_000
    return [
        raw("HTTP/1.0 without Host", "GET /films/metropolis HTTP/1.0\n\n"),
        raw("HTTP/1.1 without Host", "GET /films/metropolis HTTP/1.1\nConnection: close\n\n"),
        raw("two Hosts", f"GET /films HTTP/1.1\n{head}Host: localhost\n\n"),
        raw("HTTP/2.0", f"GET /films HTTP/2.0\n{head}\n"),
        raw("HTTP/1.2", f"GET /films/nothing HTTP/1.2\n{head}\n"),
        raw("no version", f"GET /films\n{head}\n"),
        raw("two spaces", f"GET  /films HTTP/1.1\n{head}\n"),
        raw("a method with a sign", f"GE(T /films HTTP/1.1\n{head}\n"),
        raw("an unknown method", f"BREW /films HTTP/1.1\n{head}\n"),
        raw("a method in small letters", f"get /films HTTP/1.1\n{head}\n"),
        raw("a blank line first", f"\nGET /films/nothing HTTP/1.1\n{head}\n"),
        Raw("a line feed alone", b"GET /films HTTP/1.1\nHost: localhost\n\n"),
        Raw("a line feed alone in a field", b"GET /films HTTP/1.1\r\nHost: localhost\nConnection: close\r\n\r\n"),
        raw("a folded field", f"GET /films HTTP/1.1\n{head}X: a\n b\n\n"),
        raw("a space before the colon", f"GET /films HTTP/1.1\n{head}X : a\n\n"),
        raw("a field without a name", f"GET /films HTTP/1.1\n{head}: a\n\n"),
        Raw("a control character in a field", b"GET /films HTTP/1.1\r\nHost: localhost\r\nX: a\x01b\r\n\r\n"),
        Raw("bytes that are not UTF-8", b"GET /films/\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
        raw("a length twice", f"GET /films HTTP/1.1\n{head}Content-Length: 0\nContent-Length: 0\n\n"),
        raw("a length that is no number", f"GET /films HTTP/1.1\n{head}Content-Length: two\n\n"),
        raw("a negative length", f"GET /films HTTP/1.1\n{head}Content-Length: -1\n\n"),
        raw("a length and a coding", f"GET /films HTTP/1.1\n{head}Content-Length: 0\nTransfer-Encoding: chunked\n\n"),
        raw("another coding", f"GET /films HTTP/1.1\n{head}Transfer-Encoding: gzip\n\n"),
        raw("a coding in HTTP/1.0", f"GET /films HTTP/1.0\n{head}Transfer-Encoding: chunked\n\n0\n\n"),
        raw("a body in chunks that is not needed",
            f"GET /films/nothing HTTP/1.1\n{head}Transfer-Encoding: chunked\n\n3\nabc\n0\n\n"),
        raw("a chunk without a size", f"GET /films/nothing HTTP/1.1\n{head}Transfer-Encoding: chunked\n\nxyz\nabc\n0\n\n"),
        raw("a target that is too long", f"GET /{'x' * 9000} HTTP/1.1\n{head}\n"),
        raw("a head that is too long", f"GET /films HTTP/1.1\n{head}X: {long}\n\n"),
        raw("another expectation", f"GET /films HTTP/1.1\n{head}Expect: miracles\n\n"),
        raw("an expectation in a refused request",
            f"PUT /films/x HTTP/1.1\n{head}Content-Length: 5\nExpect: 100-continue\n\n"),
        raw("two requests on a connection",
            f"GET /films/nothing HTTP/1.1\nHost: localhost\n\nGET /films/nothing.xml HTTP/1.1\n{head}\n"),
        raw("a connection of HTTP/1.0 that stays",
            "GET /films/nothing HTTP/1.0\nConnection: keep-alive\n\nGET /films/nothing HTTP/1.0\n\n"),
        get("an id of the client", "/films/nothing", X_Request_Id="case-7.b"),
        get("an id of the client that is not taken", "/films/nothing", X_Request_Id='a "b"'),
        get("an id of the client that is too long", "/films/nothing", X_Request_Id="x" * 129),
    ]
