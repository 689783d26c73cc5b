#!/usr/bin/env python3
"""Marks films in four browsers at once, and counts the marks that are stored.

    Tests/Interoperability/four-browsers.py .build/release/marquee          10,000 marks
    Tests/Interoperability/four-browsers.py .build/release/marquee 400      fewer

Each browser runs in a terminal of its own and gets keys: w marks a film as seen, j goes to the next. One of them is
killed with SIGKILL half of the way, and started again: what it had shown as stored must be there. The status is 1 if
a mark is missing.
"""
import fcntl
import json
import os
import pty
import select
import signal
import sqlite3
import struct
import sys
import tempfile
import termios
import time

program = os.path.abspath(sys.argv[1])
marks = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
each = marks // 4
home = tempfile.mkdtemp(prefix="marquee-marks-")
environment = {
    "PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "SWIFT_BACKTRACE": "enable=no", "HOME": home,
    "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home + "/data", "XDG_CONFIG_HOME": home,
}


def start(number, first):
    films = [{"id": str(n), "title": f"Film {number}-{n}"} for n in range(first, each)]
    path = f"{home}/{number}.json"
    with open(path, "w") as file:
        json.dump({"movies": films}, file)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [program, "--graphics", "none", "--catalogue", path], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 80, 0, 0))
    return pid, terminal


def stored(prefix="film-"):
    if not os.path.exists(home + "/data/marquee/marks.db"):
        return 0
    with sqlite3.connect(home + "/data/marquee/marks.db", timeout=60) as database:
        count = "SELECT count(*) FROM marks WHERE mark = 'seen' AND value = 1 AND film LIKE ? || '%'"
        return database.execute(count, (prefix,)).fetchone()[0]


browsers = {number: start(number, 0) for number in range(4)}
typed = {number: 0 for number in browsers}
# The browsers that show their films. What is typed before may be for another program.
shown = set()
killed, begin = False, time.monotonic()
while any(count < each for count in typed.values()):
    ready = select.select([terminal for _, terminal in browsers.values()], [], [], 0.05)[0]
    for number, (pid, terminal) in browsers.items():
        if terminal in ready and b"Film" in os.read(terminal, 1 << 16):
            shown.add(number)
        if number in shown and typed[number] < each:
            # A pair at a time: a terminal's input takes 4,095 bytes.
            os.write(terminal, b"wj")
            typed[number] += 1
    if not killed and typed[3] >= each // 2:
        killed = True
        pid, terminal = browsers[3]
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
        kept = stored("film-3-")
        print(f"killed after {typed[3]} keys; {kept} marks of that browser are stored")
        # It goes on behind the marks that are stored.
        browsers[3], typed[3] = start(3, kept), kept
        shown.remove(3)
for number, (pid, terminal) in browsers.items():
    os.write(terminal, b"\x03")
waiting = {pid: terminal for pid, terminal in browsers.values()}
while waiting:
    for terminal in select.select(list(waiting.values()), [], [], 0.05)[0]:
        try:
            os.read(terminal, 1 << 16)
        except OSError:
            pass
    for pid in list(waiting):
        if os.waitpid(pid, os.WNOHANG)[0]:
            del waiting[pid]
found = stored()
print(f"{found} of {each * 4} marks are stored, after {time.monotonic() - begin:.0f} s; they are in {home}")
sys.exit(0 if found == each * 4 else 1)
