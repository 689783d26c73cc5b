"""A server for failing-loads.sh whose answers fail. The path says how; the query only makes a URL its own.

Prints its address, and an address that refuses every connection. Ends when its standard input does."""

import http.server
import pathlib
import socket
import sys
import threading
import time

POSTERS = pathlib.Path(__file__).parents[2] / "sample-data" / "posters"
# The limit of FailingLoads for bodies in memory, less a little.
FULL = (8 << 20) - 4096


def comments(count):
    """Comment segments (T.81 B.2.4.5) of at least `count` bytes in all."""
    segment = b"\xff\xfe\xff\xff" + bytes(0xFFFD)
    return segment * (count // len(segment) + 1)


def after_first_scan(jpeg):
    """Where the first scan of a JPEG ends: at the next marker that is no stuffed byte and no restart."""
    at = jpeg.index(b"\xff\xda") + 2
    while jpeg[at] != 0xFF or jpeg[at + 1] == 0 or 0xD0 <= jpeg[at + 1] <= 0xD7:
        at += 1
    return at


progressive = (POSTERS / "nosferatu.jpg").read_bytes()
baseline = (POSTERS / "metropolis.jpg").read_bytes()
cut = after_first_scan(progressive)
long_progressive = progressive[:cut] + comments(1_320_000) + progressive[cut:]
long_baseline = baseline[:2] + comments(1_320_000) + baseline[2:]
full = baseline[:2] + comments(FULL - len(baseline) - 2 * 65_537) + baseline[2:]

# The body of each path, and how many bytes of it are sent.
BODIES = {
    "good.jpg": (progressive, len(progressive)),
    "full.jpg": (full, len(full)),
    "long-progressive.jpg": (long_progressive, len(long_progressive) - 40_000),
    "long-baseline.jpg": (long_baseline, len(long_baseline) - 40_000),
    "short-progressive.jpg": (progressive, cut + 2_000),
    "short-baseline.jpg": (baseline, 40_000),
    "stalled.jpg": (progressive, cut + 2_000),
}


class Origin(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        try:
            self.answer(self.path.lstrip("/").partition("?")[0])
        except OSError:
            pass  # The client has left.

    def answer(self, name):
        if name == "silent.jpg":
            return self.wait_for_close()
        if name == "page.html":
            body = b"<!DOCTYPE html><title>No picture</title>"
            return self.send(200, "text/html", body, len(body))
        if name not in BODIES:
            return self.send(404, "text/plain", b"no such picture", 15)
        body, sent = BODIES[name]
        self.send(200, "image/jpeg", body, sent, pause_at=cut + 2_000 if "long" in name else 0)
        if name == "stalled.jpg":
            self.wait_for_close()

    def send(self, status, kind, body, sent, pause_at=0):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(memoryview(body)[:pause_at])
        if pause_at:
            time.sleep(0.05)  # For a preview.
        self.wfile.write(memoryview(body)[pause_at:sent])

    def wait_for_close(self):
        self.connection.recv(1)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


server = Server(("127.0.0.1", 0), Origin)
# Bound, but not listening.
refusing = socket.socket()
refusing.bind(("127.0.0.1", 0))
threading.Thread(target=server.serve_forever, daemon=True).start()
print(*(f"http://127.0.0.1:{port}/" for port in (server.server_port, refusing.getsockname()[1])), flush=True)
sys.stdin.read()
