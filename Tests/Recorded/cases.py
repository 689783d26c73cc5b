"""What the tables consist of: sites, and the cases of each site.

A site is a service with its cases, or only commands. The cases of a site run in the order of the table, so a later case sees
what an earlier one has written."""

import base64
import dataclasses
import typing


@dataclasses.dataclass
class Site:
    """name begins the names of its cases. serve: the words after `marquee serve`; None for no service. library: a library
    that is copied to NAME.db for this site. rules: further rules of normal.py. fields: header fields of all its requests."""

    name: str
    cases: list
    serve: typing.Optional[str] = None
    library: typing.Optional[str] = None
    rules: list = dataclasses.field(default_factory=list)
    fields: dict = dataclasses.field(default_factory=dict)
    variables: dict = dataclasses.field(default_factory=dict)
    # The working folder, within the folder of the run.
    folder: str = ""
    # Whether no case sees what another one has written. Then two commands run at a time.
    is_independent: bool = False
    # Whether the output at the service's end is a case. Logs are there.
    records_end: bool = True


@dataclasses.dataclass
class Ask:
    """A request over HTTP. A value of a field may be a `Tag`."""

    name: str
    target: str
    method: str = "GET"
    body: typing.Optional[bytes] = None
    fields: dict = dataclasses.field(default_factory=dict)
    # Signs in first, and sends the cookie of the session.
    signs_in: bool = False
    # Asks the listener for health and metrics.
    asks_admin: bool = False


@dataclasses.dataclass
class Raw:
    """Bytes that are sent as they are. The last request must end the connection."""

    name: str
    data: bytes


@dataclasses.dataclass
class Run:
    """A command. `{url}` in its words is the site's service. entered: the bytes of its standard input. shows_origin: what the
    script's origin got is recorded too. rules: further rules of normal.py. sorts: the lines of standard output come in the
    order in which transfers end. only: a pattern of the recorded lines of standard output; others depend on the machine."""

    name: str
    words: str
    entered: bytes = b""
    variables: dict = dataclasses.field(default_factory=dict)
    folder: str = ""
    shows_origin: bool = False
    rules: list = dataclasses.field(default_factory=list)
    sorts: bool = False
    only: typing.Optional[str] = None


@dataclasses.dataclass
class Look:
    """Records the bytes of a file that an earlier case has written."""

    name: str
    path: str


@dataclasses.dataclass
class Do:
    """Something between two cases, which is not recorded. It gets the workplace and the service."""

    action: typing.Callable


@dataclasses.dataclass
class Tag:
    """The present entity tag of an address of the service, as it was before the request."""

    target: str
    accept: str = "application/json"


# Short forms for the tables. Names of fields have `_` for `-`.


def named(fields):
    return {name.replace("_", "-"): value for name, value in fields.items()}


def runs(text):
    """Commands, one on each line. Each is named by its words."""
    return [Run(line.strip(), line.strip()) for line in text.strip().splitlines()]


def get(name, target, **fields):
    return Ask(name, target, fields=named(fields))


def ask(method, name, target, **fields):
    return Ask(name, target, method=method, fields=named(fields))


def send(method, name, target, body, type=None, **fields):
    """A request with a body. type: its Content-Type."""
    data = body if isinstance(body, bytes) else body.encode("utf-8")
    fields = ({"Content-Type": type} if type else {}) | named(fields)
    return Ask(name, target, method=method, body=data, fields=fields)


def page(name, target, **fields):
    return Ask(name, target, fields={"Accept": "text/html"} | named(fields))


def base64url(text):
    """Text as a part of an address."""
    return base64.urlsafe_b64encode(text.encode("utf-8")).decode().rstrip("=")


def picture(name, recipe, source, signature="-", method="GET", **fields):
    """A picture of the source at this address."""
    return Ask(name, f"/image/{signature}/{recipe}/{base64url(source)}", method=method, fields=named(fields))


def raw(name, text):
    """Lines of a head, with `\\n` for CR LF."""
    return Raw(name, text.replace("\n", "\r\n").encode("utf-8"))


def part(name, text, type=None):
    """A field of a form in parts."""
    head = f'Content-Disposition: form-data; name="{name}"' + (f"\r\nContent-Type: {type}" if type else "")
    return head, text if isinstance(text, bytes) else text.encode("utf-8")


def file_part(name, file, type, data):
    """A file of a form in parts."""
    return f'Content-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: {type}', data


def multipart(*parts):
    """The body of a form in parts. Its boundary is `b`."""
    return b"".join(f"--b\r\n{head}\r\n\r\n".encode() + data + b"\r\n" for head, data in parts) + b"--b--\r\n"
