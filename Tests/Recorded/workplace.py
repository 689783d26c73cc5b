"""The temporary folder of a run: a copy of the program, the files of the cases, and the processes that run there."""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import samples
from normal import Normal
from origin import Origin

# A library begins at a random revision. Entity tags and SOAP answers have it. So the script sets the revision of its
# libraries: normal.py knows it by its number of digits.
REVISION = 1_000_000_000_001
# The longest time in seconds that a command may take, and a service to start or to end.
TIMEOUT = 60


class Failure(Exception):
    """The program does not do what all cases need."""


class Workplace:
    """Use it with `with`: at the end no process and no file of it is left."""

    def __init__(self, program):
        self.began = time.time()
        self.root = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="marquee-recorded-")))
        self.folder = self.root / "run"
        self.processes = []
        self.origin = None
        self.normal = Normal(str(self.folder), self.began)
        # The program looks for sample-data in the folders above it. A copy of it finds none there.
        self.program = self.root / "program" / "marquee"
        self.given = program

    def __enter__(self):
        try:
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def prepare(self):
        self.folder.mkdir()
        self.program.parent.mkdir()
        shutil.copy2(self.given, self.program)
        for name in ["home", "tmp", "cache", "state", "config", "own"]:
            (self.folder / name).mkdir()
        self.origin = Origin(samples.pictures())
        self.normal.ports.add(self.origin.address.rpartition(":")[2])
        samples.write(self.folder, self.origin.address)
        try:
            self.make_library("films.db", "sample-data/movies.json")
            self.make_library("small.db", "small.json")
        except (OSError, sqlite3.Error) as error:
            raise Failure(f"{self.given} does not import a catalogue: {error}") from error

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        if self.origin:
            self.origin.close()
        shutil.rmtree(self.root)

    def environment(self, changes=None):
        """Only these variables reach the program."""
        variables = {
            "PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8", "USER": "tester",
            "HOME": self.path("home"), "TMPDIR": self.path("tmp"), "XDG_CACHE_HOME": self.path("cache"),
            "XDG_STATE_HOME": self.path("state"), "XDG_CONFIG_HOME": self.path("config"),
        }
        # A toolchain that is not in the system's folders names its libraries so.
        if "LD_LIBRARY_PATH" in os.environ:
            variables["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        return {**variables, **(changes or {})}

    def path(self, name):
        return str(self.folder / name)

    # Commands

    def run(self, words, entered=b"", variables=None, folder=""):
        """Runs a command in the folder, with these bytes as its standard input."""
        try:
            return subprocess.run(
                [self.program, *words], input=entered, capture_output=True, timeout=TIMEOUT,
                cwd=self.folder / folder, env=self.environment(variables))
        except subprocess.TimeoutExpired as expired:
            return subprocess.CompletedProcess(words, "did not end", expired.stdout or b"", expired.stderr or b"")

    def make_library(self, name, catalogue):
        """Imports a catalogue into a library whose films have the fixed revision."""
        done = self.run(["import", catalogue, name])
        # 1: a poster is left out.
        if done.returncode not in (0, 1):
            raise Failure(f"{self.given} does not import a catalogue: {done.stderr.decode('utf-8', 'replace')}")
        database = sqlite3.connect(self.folder / name)
        with database:
            database.execute("UPDATE facts SET value = ? WHERE key IN ('revision', 'words')", (REVISION,))
            database.execute("UPDATE films SET revision = ?", (REVISION,))
        database.close()

    def copy_library(self, name, copy):
        """A library of its own for cases that write. No program has the original open."""
        shutil.copy(self.folder / name, self.folder / copy)

    # Services

    def serve(self, words, variables=None, folder=""):
        service = Service(self, words, variables, self.folder / folder)
        self.processes.append(service.process)
        service.wait_for_start()
        self.normal.ports.update(
            address.rpartition(":")[2] for address in [service.address, service.admin]
            if address and not address.startswith("unix:"))
        return service


class Service:
    """A running `marquee serve`. Its output goes to files, so that nothing has to read it meanwhile."""

    def __init__(self, place, words, variables, folder):
        number = len(place.processes)
        self.output, self.errors = (place.folder / f"service-{number}.{name}" for name in ["out", "err"])
        with open(self.output, "wb") as output, open(self.errors, "wb") as errors:
            # Only JSON tells the address of health and metrics.
            json_too = ["--json"] if "--admin" in words else []
            self.process = subprocess.Popen(
                [place.program, "serve", *json_too, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                cwd=folder, env=place.environment(variables))

    def wait_for_start(self):
        """Reads the addresses, which the service prints when it listens."""
        wait_until(lambda: b"\n" in self.output.read_bytes() or self.process.poll() is not None)
        line = self.output.read_text().partition("\n")[0]
        if not line:
            raise Failure("the service did not start: " + self.errors.read_text(errors="replace"))
        try:
            addresses = json.loads(line) if line.startswith("{") else {"url": line}
            self.url = addresses["url"]
        except (ValueError, KeyError):
            raise Failure(f"the service printed no address: {line}") from None
        self.address = plain_address(self.url)
        self.admin = plain_address(addresses.get("admin", ""))

    def wait_for_message(self, text):
        """Waits until standard error has the text."""
        wait_until(lambda: text.encode() in self.errors.read_bytes())

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Ends the service as a service manager does. Returns its status, its output and its errors."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            status = "did not end"
        return status, self.output.read_bytes(), self.errors.read_bytes()


def plain_address(url):
    """`127.0.0.1:8080` of `http://127.0.0.1:8080/`; the address of a local socket as it is."""
    return url[len("http://"):].rstrip("/") if url.startswith("http://") else url


def wait_until(holds):
    """Returns when `holds` does, or after the longest time."""
    end = time.monotonic() + TIMEOUT
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
