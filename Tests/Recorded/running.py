"""Runs the cases of sites, and makes a result of each: a dictionary of what a reader of the recording sees."""

import re
import shlex
from concurrent.futures import ThreadPoolExecutor

import wire
from cases import Ask, Do, Look, Raw, Run, Tag
from normal import DURATIONS, OF_ANY_LENGTH
from recording import content
from workplace import Failure

# The token of the writer in samples.TOKENS.
TOKEN = "recorded-token-0123456789"


def results(sites, place, bodies):
    """The results of all cases by name. bodies gets the body of each, as a file of `--keep`."""
    found = {}
    for site in sites:
        for name, result in SiteRun(site, place, bodies).results():
            if name in found:
                raise ValueError(f"two cases are called {name}")
            found[name] = result
    return found


def without_nothing(result):
    """The parts of a result that are not empty."""
    return {part: value for part, value in result.items() if value != [""]}


class SiteRun:
    def __init__(self, site, place, bodies):
        self.site, self.place, self.bodies = site, place, bodies
        self.service = None
        self.cookie = None

    def results(self):
        if self.site.library:
            self.place.copy_library(self.site.library, self.site.name + ".db")
        if self.site.serve is not None:
            try:
                self.service = self.place.serve(shlex.split(self.site.serve), self.variables({}), self.site.folder)
            except Failure as failure:
                yield f"{self.site.name}: start", {"failed": self.text(str(failure))}
                return
        if self.site.is_independent:
            with ThreadPoolExecutor(max_workers=2) as pool:
                yield from zip(map(self.name, self.site.cases), pool.map(self.result, self.site.cases))
            return
        for case in self.site.cases:
            if isinstance(case, Do):
                self.do(case)
            else:
                yield self.name(case), self.result(case)
        if self.service:
            end = self.end()
            if self.site.records_end:
                yield f"{self.site.name}: end", end

    def variables(self, others):
        """The environment. Each site has a cache and a state of its own, so it does not depend on the sites before it."""
        own = {f"XDG_{kind}_HOME": self.place.path(f"own/{self.site.name}/{kind.lower()}") for kind in ["CACHE", "STATE"]}
        return own | self.site.variables | others

    def do(self, case):
        try:
            case.action(self.place, self.service)
        except OSError:
            # The service has ended, or a file is not there. The cases that follow show it.
            pass

    def name(self, case):
        return f"{self.site.name}: {case.name}"

    def result(self, case):
        name = self.name(case)
        if isinstance(case, Run):
            return self.command(case, name)
        if isinstance(case, Look):
            path = self.place.folder / case.path
            data = self.normal(path.read_bytes()) if path.is_file() else b"no file"
            return {"file": case.path, "content": self.recorded(data, name, "file")}
        return self.answer(case, name)

    # HTTP

    def answer(self, case, name):
        address = self.service.admin if isinstance(case, Ask) and case.asks_admin else self.service.address
        data = case.data if isinstance(case, Raw) else self.request(case)
        asks = self.text(data.split(b"\r\n")[0].decode("utf-8", "replace").removesuffix(" HTTP/1.1"))[:200]
        try:
            lines, body = wire.head_and_body(wire.exchange(address, data))
        except OSError as error:
            return {"asks": asks, "answer": [f"none: {type(error).__name__}"]}
        if isinstance(case, Ask) and case.signs_in and "Max-Age=0" in (wire.field(lines, "set-cookie") or ""):
            # The session has ended.
            self.cookie = None
        return {"asks": asks, **self.answer_parts(lines, body, name)}

    def answer_parts(self, lines, body, name):
        plain = wire.plain_body(lines, body)
        normal = self.place.normal.data(plain, self.site.rules)
        if normal == plain:
            # Nothing was replaced, so the bytes are compared as they came: compressed ones too.
            shown = body
        else:
            shown = normal
            # A text with a time in it has another length in each run when it is compressed.
            varies = plain is not body or any(mark in normal for mark in OF_ANY_LENGTH)
            if varies and wire.field(lines, "content-length") == str(len(body)):
                lines = [re.sub(r"^Content-Length: \d+$", "Content-Length: <the body's>", line) for line in lines]
        return without_nothing({"answer": [self.text(line) for line in lines], "body": self.recorded(shown, name, "body")})

    def request(self, case):
        fields = self.site.fields | case.fields
        values = [(name, self.value(value)) for name, value in fields.items() if value is not None]
        if case.signs_in:
            values.append(("Cookie", self.session()))
        return wire.request(case.method, case.target, values, case.body)

    def value(self, value):
        if not isinstance(value, Tag):
            return value
        lines, _ = self.ask(value.target, [("Accept", value.accept)])
        return wire.field(lines, "etag") or "none"

    def ask(self, target, fields):
        """An answer that is not recorded. It is empty if the service has ended."""
        try:
            return wire.head_and_body(wire.exchange(self.service.address, wire.request("GET", target, fields, None)))
        except OSError:
            return [""], b""

    def session(self):
        """The cookie of a browser that has signed in with the token."""
        if self.cookie is None:
            lines, _ = self.ask(f"/login?token={TOKEN}", [])
            self.cookie = (wire.field(lines, "set-cookie") or "none").partition(";")[0]
        return self.cookie

    # Commands

    def command(self, case, name):
        self.place.origin.taken()
        words = case.words
        if self.service:
            words = words.replace("{url}", self.service.url).replace("{admin}", self.service.admin)
        folder = case.folder or self.site.folder
        done = self.place.run(shlex.split(words), case.entered, self.variables(case.variables), folder)
        result = self.output(done.returncode, self.chosen(done.stdout, case), done.stderr, name, case.rules)
        if case.shows_origin:
            result["origin got"] = self.taken(name)
        return without_nothing({"command": self.text("marquee " + words), **result})

    def taken(self, name):
        """The requests that the script's origin got: the lines of each head, a blank line, and its body."""
        lines, kept = [], b""
        for request in self.place.origin.taken():
            head, body = wire.head_and_body(request)
            shown = self.place.normal.form(body)
            if shown != body:
                # The boundary of a form has another length in each run.
                head = [re.sub(r"^Content-Length: \d+$", "Content-Length: <the body's>", line) for line in head]
            head = [*map(self.text, head), ""]
            lines += head + content(shown)
            kept += "\n".join(head).encode("utf-8") + b"\n" + shown + b"\n"
        self.keep(kept, name, "origin")
        return lines

    def chosen(self, output, case):
        """The lines of standard output that are recorded."""
        if not (case.sorts or case.only):
            return output
        lines = [line for line in output.split(b"\n")[:-1] if re.search((case.only or "").encode(), line)]
        # Durations are replaced before, since they would decide the order.
        lines = [self.normal(line) for line in lines]
        return b"".join(line + b"\n" for line in (sorted(lines) if case.sorts else lines))

    def end(self):
        status, output, errors = self.service.stop()
        # A message that repeats is printed once a second with its count, which depends on time.
        messages = re.sub(rb" \((once|\d+ times) since \S+\)", b"", errors).split(b"\n")
        return without_nothing(self.output(status, output, b"\n".join(dict.fromkeys(messages)), self.site.name + ": end"))

    def output(self, status, output, errors, name, rules=()):
        return {
            "status": status,
            "stdout": self.recorded(self.normal(output, rules), name, "stdout"),
            "stderr": self.recorded(self.normal(errors, rules), name, "stderr"),
        }

    # Results

    def normal(self, data, rules=()):
        return self.place.normal.data(data, [*self.site.rules, *DURATIONS, *rules])

    def text(self, text):
        return self.place.normal.text(text, self.site.rules)

    def recorded(self, data, name, kind):
        """Bytes as in the recording. They are kept for `--keep` too."""
        self.keep(data, name, kind)
        return content(data)

    def keep(self, data, name, kind):
        file = re.sub(r"[^\w.,=-]+", "_", name)[:150] + "." + kind
        if file in self.bodies:
            raise ValueError(f"two cases would be kept as {file}")
        self.bodies[file] = data
