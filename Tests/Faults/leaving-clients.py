#!/usr/bin/env python3
"""Whether clients that leave delay others.

Ten thousand clients connect, ask and close at once, while another client searches in 50,000 films. First they ask for an
answer that is kept, then each for a search of its own. With the second, the other client's 99th percentile may be three
times as long, and the memory must stay as it is. Then the same with a catalogue that is read anew every second.

    Tests/Faults/leaving-clients.py PROGRAM [CLIENTS]      10,000 clients by default

Needs 30,000 free ports of this machine. Takes four minutes.
"""
import json
import multiprocessing
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
clients = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
# A search that takes longer counts with this time.
patience = 120
failures = []


def search():
    """A search that reads every film: the index of words has no words of two letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "/films?q=" + "+".join("".join(random.choices(letters, k=2)) for _ in range(3))


def request(target):
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()


def leave(port, source, target):
    """The clients. Half of them reset their connections."""
    random.seed(source)
    for number in range(clients):
        client = socket.socket()
        if number % 2:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Each run has the ports of its own address: closed connections keep theirs for a minute.
        client.bind((source, 0))
        try:
            client.connect(("127.0.0.1", port))
            client.sendall(request(target or search()))
        except OSError:
            pass
        client.close()


def answer(port):
    """The time of a search, in seconds."""
    began = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=patience) as client:
            client.sendall(request(search()))
            head = client.recv(65536)
            if head.split(b" ")[1] != b"200":
                failures.append(f"a search was answered {head.split(b' ')[1].decode()}")
            while client.recv(65536):
                pass
    except TimeoutError:
        pass
    return time.monotonic() - began


def measure(service, port, source, target, touched):
    """The 99th percentile of at least a hundred searches beside the clients, and the most memory."""
    open(f"/proc/{service.pid}/clear_refs", "w").write("5")
    leavers = multiprocessing.Process(target=leave, args=(port, source, target))
    leavers.start()
    times, touch, end = [], 0, time.monotonic() + patience
    while (leavers.is_alive() or len(times) < 100) and time.monotonic() < end:
        if touched and time.monotonic() - touch > 1:
            os.utime(touched)
            touch = time.monotonic()
        times.append(answer(port))
    leavers.terminate()
    leavers.join()
    status = open(f"/proc/{service.pid}/status").read()
    memory = int(status.split("VmHWM:")[1].split()[0]) // 1024
    return sorted(times)[int(len(times) * 0.99)], len(times), memory


def prove(name, arguments, touched=None):
    service = subprocess.Popen(
        [program, "serve", *arguments, "--quiet", "--no-disk-cache", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(service.stdout.readline().rstrip("/\n").rsplit(":", 1)[1])
        for _ in range(10):
            answer(port)
        addresses = [f"127.0.{len(name)}.{number}" for number in (1, 2)]
        kept, count, before = measure(service, port, addresses[0], "/films", touched)
        print(f"{name}, clients of a kept answer: 99 % of {count} searches within {kept * 1000:.0f} ms, {before} MB", flush=True)
        own, count, after = measure(service, port, addresses[1], None, touched)
        print(f"{name}, clients of searches: 99 % of {count} within {own * 1000:.0f} ms ({own / kept:.1f} times), {after} MB", flush=True)
        if own > 3 * kept:
            failures.append(f"{name}: clients that have gone delay others")
        if after > before * 1.2 + 32:
            failures.append(f"{name}: clients that have gone take memory")
    finally:
        service.terminate()
        service.wait()


with tempfile.TemporaryDirectory() as folder:
    os.environ["XDG_CACHE_HOME"] = folder
    catalogue, library = f"{folder}/films.json", f"{folder}/films.db"
    random.seed(1)
    films = [
        {"id": f"film-{n}", "title": f"Film {n}", "year": 1900 + n % 120, "director": f"Director {n % 997}",
         "genres": ["Drama"], "overview": "What happens in it. " * 5}
        for n in range(50_000)
    ]
    with open(catalogue, "w") as file:
        json.dump(films, file)
    subprocess.run([program, "import", catalogue, library], check=True, stdout=subprocess.DEVNULL)
    prove("library", [library])
    prove("catalogue", [catalogue], catalogue)
for failure in sorted(set(failures)):
    print(f"failed: {failure}")
sys.exit(bool(failures))
