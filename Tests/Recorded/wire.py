"""Requests as bytes, and answers as bytes: no library comes between the cases and the program."""

import gzip
import socket
import zlib

TIMEOUT = 30


def request(method, target, fields, body):
    """The bytes of a request. The connection ends after the answer, so the answer's end is the connection's."""
    lines = [f"{method} {target} HTTP/1.1"]
    names = {name.lower() for name, _ in fields}
    if "host" not in names:
        # The same for every port, since some answers repeat it.
        lines.append("Host: localhost")
    lines.append("Connection: close")
    lines += [f"{name}: {value}" for name, value in fields]
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + (body or b"")


def exchange(address, data):
    """Sends bytes to `host:port` or `unix:PATH`, and returns what comes until the connection's end."""
    with connection(address) as link:
        try:
            link.sendall(data)
        except OSError:
            # The server may refuse a request before it has read all of it. Its answer is what counts.
            pass
        pieces = []
        while True:
            piece = link.recv(1 << 16)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)


def connection(address):
    if address.startswith("unix:"):
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(TIMEOUT)
        link.connect(address[len("unix:"):])
        return link
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), TIMEOUT)


def head_and_body(answer):
    """The lines of an answer's head, and its body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode("utf-8", "replace").split("\r\n"), body


def field(lines, name):
    """The value of a field of a head; None without it."""
    start = name.lower() + ":"
    return next((line[len(start):].strip() for line in lines[1:] if line.lower().startswith(start)), None)


def plain_body(lines, body):
    """The body without its content coding. A body that is not in its coding stays as it is."""
    if not body or field(lines, "content-encoding") != "gzip":
        return body
    try:
        return gzip.decompress(body)
    except (OSError, EOFError, zlib.error):
        return body
