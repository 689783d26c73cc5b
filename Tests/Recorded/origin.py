"""A small server of pictures and films within the script. Commands and services fetch from it and send to it."""

import http.server
import json
import threading

# The fields of a picture that stays fresh longer than a run takes.
FRESH = {"Cache-Control": "max-age=86400", "ETag": '"first"'}
TEXT, JSON, XML = ({"Content-Type": type} for type in ["text/plain", "application/json", "text/xml; charset=utf-8"])
FILM = json.dumps({"id": "sent-1930", "title": "Sent", "year": 1930}).encode()
VOTE = json.dumps({"value": 8.5, "rating": 8.5, "votes": 1}).encode()
TAKEN = json.dumps({"type": "about:blank", "title": "Conflict", "status": 409, "detail": "the film exists already"}).encode()
MESSAGE = b"""<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>\
<AddResponse xmlns="urn:marquee:films"><AddResult tag="1.json"><id>sent-1930</id><title>Sent</title><year>1930</year>\
</AddResult>\
</AddResponse></s:Body></s:Envelope>"""


def answers(pictures):
    """Status, fields and body for each path. A method before the path means only this method. pictures: bytes by name."""
    good = pictures["good.jpeg"]
    jpeg = {"Content-Type": "image/jpeg"}
    named = {
        f"/{name}": (200, {"Content-Type": "image/" + name.rpartition(".")[2], **FRESH}, data)
        for name, data in pictures.items()
    }
    return named | {
        "/page.jpg": (200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><title>No picture</title>"),
        "/empty.jpg": (200, jpeg, b""),
        "/gone.jpg": (410, TEXT, b"gone"),
        "/forbidden.jpg": (403, TEXT, b"no"),
        "/locked.jpg": (401, {"WWW-Authenticate": 'Basic realm="pictures"'}, b""),
        "/moved.jpg": (302, {"Location": "/good.jpeg"}, b""),
        "/away.jpg": (302, {"Location": "http://192.0.2.1/a.jpg"}, b""),
        "/loop.jpg": (302, {"Location": "/loop.jpg"}, b""),
        "/private.jpg": (200, jpeg | {"Cache-Control": "private, max-age=86400"}, good),
        "/unstored.jpg": (200, jpeg | {"Cache-Control": "no-store"}, good),
        "/stale.jpg": (200, jpeg | {"Cache-Control": "no-cache", "ETag": '"same"'}, good),
        "/text": (200, {"Content-Type": "text/plain; charset=utf-8", **FRESH}, "a text, é\n".encode()),
        # As a film service answers.
        "GET /films": (200, JSON, b'{"movies":[' + FILM + b"]}"),
        "GET /films/top/3": (200, JSON, b'{"movies":[' + FILM + b"]}"),
        "POST /films": (201, JSON | {"Location": "/films/sent-1930", "ETag": '"1.json"'}, FILM),
        "/films/sent-1930": (200, JSON | {"ETag": '"1.json"', "Cache-Control": "no-cache"}, FILM),
        "DELETE /films/sent-1930": (204, {}, b""),
        "/films/sent-1930/poster": (201, {"ETag": '"2"'}, b""),
        "/films/sent-1930/ratings/Zo%C3%AB%20%2F": (200, JSON, VOTE),
        "POST /taken/films": (409, {"Content-Type": "application/problem+json"}, TAKEN),
        "/taken/films/sent-1930": (200, JSON | {"ETag": '"1.json"'}, FILM),
        "POST /soap": (200, XML, MESSAGE),
        # As other servers answer to files.
        "/store": (201, {"Location": "/store/1", **TEXT}, b"stored\n"),
        "/silent-store": (204, {}, b""),
        "/full": (507, TEXT, b"full\n"),
        "/large": (413, TEXT, b"too large\n"),
        "/moved-store": (307, {"Location": "/store"}, b""),
    }


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        """A client may leave before the answer's end."""


class Origin:
    """Listens on 127.0.0.1 until it is closed."""

    def __init__(self, pictures):
        origin = self
        self.table = answers(pictures)
        # What has come since the last `taken`: the lines of each request, and its body.
        self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                lines = [self.requestline] + [f"{name}: {value}" for name, value in self.headers.items()]
                origin.requests.append(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
                origin.send(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_PATCH = do_DELETE = answer

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def send(self, handler):
        """Answers a request. The answer has no Date and no Server, which would differ by time and by Python."""
        path = handler.path.partition("?")[0]
        answer = self.table.get(f"{handler.command} {path}") or self.table.get(path)
        status, fields, body = answer or (404, TEXT, b"not here\n")
        if status == 200 and fields.get("ETag") and handler.headers.get("If-None-Match") == fields["ETag"]:
            status, body = 304, b""
        handler.send_response_only(status)
        for name, value in fields.items():
            handler.send_header(name, value)
        if status not in (204, 304):
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    def taken(self):
        """The requests so far, which are forgotten then."""
        requests, self.requests = self.requests, []
        return requests

    def close(self):
        self.server.shutdown()
        self.server.server_close()
