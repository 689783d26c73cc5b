"""Other ways to serve: trusted programs, public addresses, limits, faults, files that are read anew, health, metrics, logs,
local sockets, catalogues and folders."""

import json
import re
import shutil
import signal

import wire
from cases import Ask, Do, Site, Tag, ask, base64url, get, named, page, picture, raw, send
from normal import FRESHNESS, IN_MEMORY
from running import TOKEN
from workplace import wait_until

JSON, XML = "application/json", "application/xml"
WRITER = {"Authorization": f"Bearer {TOKEN}"}
# An id made by the service, and the time, are in lines of the log. Requests of the cases have ids of their own.
LOG = [(r'"id":"[0-9a-f]{15}"', '"id":"<id>"'), (r'"[0-9a-f]{15}" ', '"<id>" ')]
# The numbers of the metrics depend on time and memory. Those of the kept series only on the cases before.
METRICS = [(
    r"(?m)^((?:marquee|process)_(?!http_requests_total|picture_refusals_total|pictures_total)\w+(?:\{[^}]*\})?) \S+$", r"\1 <number>")]


def sites(place):
    return [
        Site("trusting", trusting(), serve="trusting.db --writable --trust-local", library="small.db"),
        Site(
            "published", published(),
            serve="published.db --writable --token-file tokens "
            "--public-url https://films.example.org/base --public-url http://plain.example:8080",
            library="small.db"),
        Site("failing", failing(), serve="small.db --fail 1"),
        Site("limited", limited(), serve="small.db --per-client 1"),
        Site(
            "proxied", proxied(), serve="small.db --per-client 1 --trusted-proxy 127.0.0.0/8 --log text --event-threads 1",
            rules=LOG),
        # How often the fault is told at the end depends on when the service looks at its file.
        Site(
            "moved", moved(), serve="moved.db --writable --token-file tokens --admin 127.0.0.1:0 --drain 0",
            library="small.db", fields=WRITER, records_end=False),
        Site(
            "reloading", reloading(),
            serve="reloading.db --writable --token-file changing-tokens --sizes-file changing-sizes "
            "--sign-key-file changing-keys",
            library="small.db"),
        Site(
            "admin", admin(), serve="small.db --admin 127.0.0.1:0 --admin-host ops.example --drain 0 --event-threads 1",
            rules=METRICS),
        Site(
            "log", logged(place),
            serve="log.db --writable --token-file tokens --log json --event-threads 1 "
            f"--source {place.origin.address} --allow-private 127.0.0.0/8",
            library="small.db", rules=[*LOG, *FRESHNESS]),
        Site("verbose", verbose(), serve="small.db --verbose --event-threads 1"),
        Site("slow", verbose(), serve="small.db --latency 20 --bandwidth 1M"),
        Site(
            "socket", socket(),
            serve=f"small.db --address unix:{place.path('films.sock')} --admin unix:{place.path('admin.sock')} "
            "--socket-mode 0660 --drain 0"),
        Site("catalogue", catalogue(), serve="small.json", rules=IN_MEMORY),
        Site("catalogue in XML", catalogue()[:6], serve="sample-data/movies.xml", rules=IN_MEMORY),
        Site("folder", folder(), serve="shelf", rules=IN_MEMORY),
        Site("folder of two", folder_of_two(), serve="pair", rules=IN_MEMORY),
        Site("folder with a page", folder_with_page(), serve="paged", rules=IN_MEMORY),
        Site("bare folder", bare_folder(), serve="bare", rules=IN_MEMORY),
        Site("broken folder", bare_folder(), serve="broken", rules=IN_MEMORY),
        Site("changing folder", changing_folder(), serve="changing --admin 127.0.0.1:0 --drain 0", rules=IN_MEMORY),
    ]


def trusting():
    film = '{"title":"Trusted"}'
    forwarded = {
        "Forwarded": "for=192.0.2.1", "Via": "1.1 proxy", "X-Real-IP": "192.0.2.1", "X-Forwarded-For": "192.0.2.1",
        "X-Forwarded-Proto": "https",
    }
    return [
        send("POST", "without a token", "/films", film, JSON),
        *[Ask(f"with {name}", "/films", "POST", film.encode(), {"Content-Type": JSON, name: value})
          for name, value in forwarded.items()],
        get("reading with X-Forwarded-For", "/films/plain", X_Forwarded_For="192.0.2.1"),
        send("POST", "from another site", "/films", film, JSON, Origin="http://evil.example"),
    ]


def published():
    film = '{"title":"Published"}'
    hosts = ["films.example.org", "films.example.org:443", "plain.example:8080", "plain.example", "other.example.org"]
    return [
        *[get(f"by {host}", "/films/plain", Host=host) for host in hosts],
        send("POST", "from its own page", "/films", film, JSON, Host="films.example.org", Origin="https://films.example.org",
            **WRITER),
        send("POST", "from its page without TLS", "/films", film, JSON, Host="films.example.org",
            Origin="http://films.example.org", **WRITER),
        get("signing in", f"/login?token={TOKEN}", Host="films.example.org"),
        get("signing in without TLS", f"/login?token={TOKEN}", Host="plain.example:8080"),
        get("the description of SOAP", "/soap?wsdl", Host="films.example.org"),
        page("a page", "/films/plain", Host="films.example.org"),
    ]


def failing():
    return [get("a film", "/films/plain"), page("a page", "/films/plain"), send("POST", "a message", "/soap", "", "text/xml")]


def limited():
    two = "GET /films/plain HTTP/1.1\nHost: localhost\nX-Request-Id: one\n\n"
    return [raw("two requests at once", two + two.replace("one", "two\nConnection: close"))]


def proxied():
    """Each client has its own limit, and its address is in the log."""
    clients = {
        "a client": "192.0.2.1", "another client": "192.0.2.2", "a client behind two proxies": "192.0.2.3, 127.0.0.2",
        "a client with IPv6": "2001:db8::1", "a client that is none": "nobody",
    }
    return [
        get(name, "/films/plain", X_Forwarded_For=client, X_Request_Id=f"request-{number}")
        for number, (name, client) in enumerate(clients.items())]


def moved():
    """The library's file goes and comes back while it is served."""
    library = "moved.db"

    def away(place, _):
        (place.folder / library).rename(place.folder / "away.db")

    def spoil(place, _):
        (place.folder / library).write_text("no library")

    def back(place, _):
        (place.folder / library).unlink()
        shutil.copy(place.folder / "away.db", place.folder / library)

    film = '{"title":"Meanwhile"}'
    return [
        get("read before", "/films/plain"),
        send("POST", "write before", "/films", '{"title":"Before"}', JSON),
        Do(away),
        get("read while there is none", "/films/plain"),
        send("POST", "write while there is none", "/films", film, JSON),
        send("POST", "write while there is none, in XML", "/films", film, JSON, Accept=XML),
        Do(spoil),
        get("read while it is none", "/films/plain"),
        send("POST", "write while it is none", "/films", film, JSON),
        Do(wait_for_readiness(b"cannot be used")),
        Ask("readiness while it is none", "/health/ready", asks_admin=True),
        Do(back),
        get("read when it is back", "/films/before"),
        send("POST", "write when it is back", "/films", '{"title":"After"}', JSON),
        Do(wait_for_readiness(b"200 OK\n")),
        Ask("readiness when it is back", "/health/ready", asks_admin=True),
    ]


def wait_for_readiness(text):
    """The service looks at its file once a second."""
    def action(_, service):
        wait_until(lambda: text in wire.exchange(service.admin, wire.request("GET", "/health/ready", [], None)))
    return action


def reloading():
    """SIGHUP makes the service read its files anew."""
    def write(tokens, sizes, keys):
        def action(place, _):
            for name, text in {"changing-tokens": tokens, "changing-sizes": sizes, "changing-keys": keys}.items():
                (place.folder / name).write_text(text)
        return action

    def reload(message):
        def action(_, service):
            service.signal(signal.SIGHUP)
            service.wait_for_message(message)
        return Do(action)

    def post(name):
        return send("POST", name, "/films", json.dumps({"title": name}), JSON,
            Authorization="Bearer new-token-01234567890123")

    key = "00" * 32
    return [
        post("with a token that is not there yet"),
        Do(write("new-token-01234567890123\n", "w100\n", f"{key}\n")),
        reload("keys and sizes anew"),
        post("with the new token"),
        get("at a size that is listed now", "/films/nosferatu/poster/w100"),
        get("at a size that was listed", "/films/nosferatu/poster/w92"),
        Do(write("short\n", "large\n", "abc\n")),
        reload("keys and sizes were not"),
        post("with the token, since the file is wrong"),
    ]


def admin():
    def case(name, target, method="GET", **fields):
        return Ask(name, target, method=method, fields=named(fields), asks_admin=True)

    def source(address):
        return "/sources/" + base64url(address)

    address = "https://example.org/a.jpg"
    return [
        get("a film for the metrics", "/films/plain"),
        get("no film for the metrics", "/films/nothing"),
        get("a picture for the metrics", "/films/nosferatu/poster/w92"),
        get("the same picture for the metrics", "/films/nosferatu/poster/w92"),
        get("a refused picture for the metrics", "/films/nosferatu/poster/w93"),
        Do(wait_for_metrics),
        case("live", "/health/live"),
        case("live, head", "/health/live", "HEAD"),
        case("live by another name", "/health/live", Host="anything.example"),
        case("ready", "/health/ready"),
        case("live, post", "/health/live", "POST"),
        case("metrics", "/metrics"),
        case("metrics by a known name", "/metrics", Host="ops.example:9090"),
        case("metrics by another name", "/metrics", Host="evil.example"),
        case("metrics, delete", "/metrics", "DELETE"),
        case("purge nothing", source(address), "DELETE"),
        case("purge what is no address", source("no address"), "DELETE"),
        case("purge what is not encoded", "/sources/***", "DELETE"),
        case("purge, get", source(address)),
        case("purge by another name", source(address), "DELETE", Host="evil.example"),
        case("purge from another site", source(address), "DELETE", Origin="http://evil.example"),
        case("purge from another site's page", source(address), "DELETE", Sec_Fetch_Site="cross-site"),
        case("something else", "/films"),
        case("the root", "/"),
        case("a bad target", "/%zz"),
    ]


def wait_for_metrics(place, service):
    """An answer is counted after it has been sent."""
    def counted():
        answer = wire.exchange(service.admin, wire.request("GET", "/metrics", [], None))
        return sum(map(int, re.findall(rb"(?m)^marquee_http_requests_total\{.*\} (\d+)$", answer))) >= 5

    wait_until(counted)


def logged(place):
    """The log is the output at the service's end."""
    source = f"http://{place.origin.address}/good.jpeg?secret=1"
    return [
        get("a film", "/films/plain?secret=1", X_Request_Id="request-1"),
        get("a film with letters", "/films/%C3%9C%20%22", X_Request_Id="request-2"),
        send("POST", "a write", "/films", '{"title":"Logged"}', JSON, X_Request_Id="request-3", **WRITER),
        send("POST", "a refused write", "/films", '{"title":"Logged"}', JSON, X_Request_Id="request-4"),
        picture("a picture", "w92", source, X_Request_Id="request-5"),
        picture("the same picture", "w92", source, X_Request_Id="request-6"),
        picture("a picture with a signature", "w92", source, "abc", X_Request_Id="request-7"),
        get("a bad target", "/%zz", X_Request_Id="request-8"),
    ]


def verbose():
    return [
        get("a film", "/films/plain?secret=1"),
        get("a poster", "/films/nosferatu/poster"),
        get("no film", "/films/nothing"),
    ]


def socket():
    return [
        get("a film", "/films/plain"),
        get("another host", "/films/plain", Host="evil.example"),
        Ask("readiness", "/health/ready", asks_admin=True),
    ]


def catalogue():
    return [
        get("the root", "/"),
        get("the root for a client of XML", "/", Accept=XML),
        ask("HEAD", "head of the root", "/"),
        get("films", "/films?limit=2"),
        get("top 3 in XML", "/films/top3.xml"),
        send("POST", "a new film", "/films", '{"title":"A"}', JSON),
        get("a film", "/films/hostile"),
        get("a film in XML", "/films/members.xml"),
        get("its poster", "/films/nosferatu/poster"),
        get("its poster at a size", "/films/nosferatu/poster/w92"),
        get("the catalogue by its name", "/small.json"),
        get("another file", "/tokens"),
        get("a picture beside it", "/pictures/small.png"),
    ]


def folder():
    date = "Tue, 14 Nov 2023 22:13:20 GMT"
    return [
        get("the root", "/"),
        get("the root, compressed", "/", Accept_Encoding="gzip"),
        ask("OPTIONS", "options of the root", "/"),
        ask("POST", "post to the root", "/", Content_Length="0"),
        get("the catalogue", "/movies.json"),
        get("the catalogue, not modified", "/movies.json", If_None_Match=Tag("/movies.json")),
        get("the catalogue, not modified since", "/movies.json", If_Modified_Since=date),
        get("the catalogue, modified since", "/movies.json", If_Modified_Since="Tue, 14 Nov 2023 22:13:19 GMT"),
        get("a part of the catalogue", "/movies.json", Range="bytes=2-5"),
        get("a part if it is not modified", "/movies.json", Range="bytes=2-5", If_Range=date),
        get("the catalogue if it is unmodified", "/movies.json", If_Unmodified_Since="Tue, 14 Nov 2023 22:13:19 GMT"),
        get("a picture", "/good.jpeg"),
        get("a part of a picture", "/good.jpeg", Range="bytes=0-3"),
        get("a part behind the end", "/good.jpeg", Range="bytes=9999999-"),
        ask("HEAD", "head of a picture", "/good.jpeg"),
        ask("PUT", "put of a picture", "/good.jpeg", Content_Length="0"),
        get("a picture below", "/below/small.png"),
        *[get(f"the file {path}", path) for path in [
            "/list.txt", "/images.json", "/film.bin", "/below/named.dat", "/secret.txt", "/settings.json", "/.hidden.json",
            "/script.py", "/linked.jpeg", "/below", "/below/", "/nothing.jpeg", "/movies.xml", "/index.html", "/a%2Fb.jpeg",
            "/a%00.jpeg", "/../small.json", "/%2e%2e/small.json", "/below/../good.jpeg", "/good.jpeg/x",
            "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q.jpeg"]],
        get("no file for a browser", "/nothing.jpeg", Accept="text/html"),
        get("films", "/films"),
        get("films in XML", "/films.xml"),
        get("a film", "/films/shelved"),
        get("no film", "/films/nothing"),
        get("its poster", "/films/shelved/poster"),
        get("its poster at a size", "/films/shelved/poster/w92"),
        get("its poster at another size", "/films/shelved/poster/w93"),
        get("the poster elsewhere", "/films/other/poster"),
        get("the poster of no film", "/films/nothing/poster"),
        get("films not modified", "/films", If_None_Match=Tag("/films")),
        send("POST", "a new film", "/films", '{"title":"A"}', JSON),
    ]


def folder_of_two():
    return [
        get("the root", "/"),
        page("the root for a browser", "/"),
        get("films", "/films"),
        get("the first catalogue", "/one.json"),
        get("the second catalogue", "/two.xml"),
        get("another text", "/other.txt"),
    ]


def folder_with_page():
    return [
        get("its own page", "/index.html"),
        get("the root", "/"),
        get("films", "/films"),
        get("the catalogue", "/movies.xml"),
    ]


def bare_folder():
    return [
        get("the root", "/"),
        page("the root for a browser", "/"),
        get("films", "/films"),
        page("films for a browser", "/films"),
        get("a film", "/films/a"),
        get("a poster", "/films/a/poster/w92"),
        get("a message", "/soap?wsdl"),
    ]


def changing_folder():
    """The catalogue is broken, and then repaired."""
    def write(text):
        return Do(lambda place, _: (place.folder / "changing" / "movies.json").write_text(text))

    ready = "/health/ready"
    return [
        get("films before", "/films"),
        write('{"movies": ['),
        get("films while it is broken", "/films"),
        Ask("readiness while it is broken", ready, asks_admin=True),
        write('{"movies": [{"id": "repaired", "title": "Repaired"}]}'),
        get("films when it is repaired", "/films"),
        Ask("readiness when it is repaired", ready, asks_admin=True),
    ]
