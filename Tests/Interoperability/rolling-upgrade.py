#!/usr/bin/env python3
"""Runs an old and a new marquee at once on one cache folder and one shared store, under kills.

    Tests/Interoperability/rolling-upgrade.py OLD NEW [SECONDS]

OLD and NEW are two programs, or commits, which are built first. SECONDS is 600 by default. Eight programs at a time, half of them old, fetch random pictures of an origin whose answers
grow stale at once; about half of them are killed while they write. Every file that a program delivers must have the
origin's bytes. Then one program fills the folder, and the other must find all of it there, without a request: both ways.
Prints what was counted; the status is 1 if a byte was wrong, an entry was not found, or a program failed.
"""
import hashlib, http.server, os, pathlib, random, signal, subprocess, sys, tempfile, threading, time

here = pathlib.Path(__file__).resolve().parents[2]
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 600


def program(name):
    """A program's path. A commit is built in a folder beside the build's own."""
    if os.access(name, os.X_OK):
        return str(pathlib.Path(name).resolve())
    tree = here / ".build" / ("rolling-" + name)
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", tree, name], cwd=here, check=True)
    build = ["swift", "build", "-c", "release", "--package-path", tree]
    subprocess.run(build + ["--product", "marquee"], check=True)
    return subprocess.run(build + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip() + "/marquee"


old, new = map(program, sys.argv[1:3])
poster = (here / "sample-data/posters/laborers-love.png").read_bytes()
sizes = [random.Random(number).choice([60_000, 200_000, 1_500_000, 4_000_000]) for number in range(40)]
lifetime, requests, store = 1, 0, {}


def picture(number):
    # Whatever follows the end of a PNG is ignored.
    return poster + hashlib.shake_128(b"%d" % number).digest(max(0, sizes[number] - len(poster)))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        # In pieces, so that a kill meets a transfer in its middle.
        for start in range(0, len(body), 65536):
            self.wfile.write(body[start:start + 65536])
            if len(body) > 1_000_000:
                time.sleep(0.002)

    def do_GET(self):
        global requests
        if self.path.startswith("/store/"):
            value = store.get(self.path)
            return self.answer(404) if value is None else self.answer(200, value)
        requests += 1
        number = int(self.path.strip("/").split(".")[0])
        body, tag = picture(number), '"%d"' % number
        fields = {"ETag": tag, "Cache_Control": "max-age=%d" % lifetime, "Content_Type": "image/png"}
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            for name, value in fields.items():
                self.send_header(name.replace("_", "-"), value)
            return self.end_headers()
        wanted = self.headers.get("Range")
        if wanted and self.headers.get("If-Range") == tag:
            start = int(wanted.split("=")[1].split("-")[0])
            span = "bytes %d-%d/%d" % (start, len(body) - 1, len(body))
            return self.answer(206, body[start:], Content_Range=span, **fields)
        self.answer(200, body, **fields)

    def do_PUT(self):
        store[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201)

    def do_DELETE(self):
        store.pop(self.path, None)
        self.answer(204)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        # A killed program leaves its connection.
        pass


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = "http://127.0.0.1:%d" % server.server_port
work = pathlib.Path(tempfile.mkdtemp())
key = work / "key"
key.write_text("0123456789abcdef" * 4 + "\n")
environment = dict(os.environ, HOME=str(work), SWIFT_BACKTRACE="enable=no", XDG_CACHE_HOME=str(work / "xdg"))
counts = {"runs": 0, "killed": 0, "delivered": 0, "wrong": 0, "failed": 0}
lock, faults = threading.Lock(), []


def fetch(program, numbers, output, kills=False):
    """Runs one program. Returns its status and messages; None if it was killed."""
    process = subprocess.Popen(
        [program, "fetch", "-", "-o", str(output), "--cache-dir", str(work / "cache"), "--shared", address + "/store/",
         "--shared-key-file", str(key), "--quiet"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    process.stdin.write("".join("%s/%d.png\n" % (address, number) for number in numbers).encode())
    process.stdin.close()
    if kills:
        try:
            process.wait(random.uniform(0.02, 1.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return None
    messages = process.stderr.read().decode(errors="replace")
    return process.wait(), messages


def check(output, program):
    for file in output.glob("*.png"):
        body = file.read_bytes()
        isRight = body == picture(int(file.name.split(".")[0]))
        with lock:
            counts["delivered"] += 1
            if not isRight:
                counts["wrong"] += 1
                faults.append("%s delivered %s with wrong bytes" % (program, file.name))
        file.unlink()


def run(index, end):
    rounds = 0
    output = work / ("out%d" % index)
    while time.monotonic() < end:
        output.mkdir(exist_ok=True)
        program = [old, new][(index + rounds) % 2]
        result = fetch(program, random.sample(range(len(sizes)), 6), output, kills=random.random() < 0.5)
        with lock:
            counts["runs"] += 1
            if result is None:
                counts["killed"] += 1
            elif result[0] != 0:
                counts["failed"] += 1
                faults.append("%s: %s" % (program, result[1].strip()[:200]))
        # A killed program may leave a temporary file, but none under its last name that is not whole.
        check(output, program)
        rounds += 1


end = time.monotonic() + seconds
threads = [threading.Thread(target=run, args=(index, end)) for index in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

lifetime = 3600
time.sleep(2)
for first, second in ((old, new), (new, old)):
    subprocess.run(["rm", "-rf", str(work / "cache")])
    store.clear()
    output = work / "both"
    output.mkdir(exist_ok=True)
    for program in (first, second):
        requests = 0
        status, messages = fetch(program, range(len(sizes)), output)
        check(output, program)
        if status != 0:
            faults.append("%s: %s" % (program, messages.strip()[:200]))
    print("%s after %s: %d requests" % (second, first, requests))
    if requests:
        faults.append("%s did not find what %s had stored: %d requests" % (second, first, requests))

print(", ".join("%d %s" % (count, name) for name, count in counts.items()))
for fault in sorted(set(faults))[:20]:
    print(fault, file=sys.stderr)
subprocess.run(["rm", "-rf", str(work)])
sys.exit(1 if faults or not counts["delivered"] else 0)
