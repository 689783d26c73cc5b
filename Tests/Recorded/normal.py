"""Replaces what cannot be equal in two runs of the same program. Everything else is compared as it is."""

import base64
import datetime
import re
import urllib.parse

PORT = re.compile(r"((?:127\.0\.0\.1|localhost)(?::|%3A)|\bport )(\d{4,5})\b")
# The address of a picture in base64url, behind a signature and a recipe, or alone.
SOURCE = re.compile(r"(?:/image/([\w.~-]+)(/[^/\s]*)|/sources)/([\w-]{20,})")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")

# Rules for all answers and all output.
ALWAYS = [
    # A service gives each request an id with a random beginning. Ids that a case sends have another form.
    (r"X-Request-Id: [0-9a-f]{15}(?![0-9a-f])", "X-Request-Id: <id>"),
    (r"\(request [0-9a-f]{15}\)", "(request <id>)"),
    # A stored poster never becomes stale by itself: its time to live is the longest one, less the age of its picture.
    (r"\b(max-age|ttl)=(?:21474835[89]|21474836[0-4])\d\b", r"\1=<the longest less its age>"),
    # A session has random bits and the time of its cookie.
    (r"(marquee-\d+)=[\w-]{22}\.\d+\.[\w-]{43}", r"\1=<session>"),
    # The tag of a file has its size, its time and its inode. The script sets the time; the inode is the disk's choice.
    (r'"([0-9a-f]+-[0-9a-f]+-[0-9a-f]+)-[0-9a-f]+((?:\.gzip)?")', r'"\1-<inode>\2'),
    # Revisions grow by random steps of at most 2^32. Those of the script's libraries begin at 10^12 (workplace.py).
    (r"\b1\d{12}\b", "<revision>"),
    # The boundary of a form that a command sends is random.
    (r"marquee-[0-9a-f]{12,32}\b", "marquee-<boundary>"),
    # The name of a library's origin within a command is made of its path, which is in the temporary folder.
    (r"library-[0-9a-f]{8,16}\.localhost", "library-<path>.localhost"),
]

# Rules for the output of commands and for logs: how long something took, and how large all answers were.
DURATIONS = [
    (r'"(milliseconds|queued|ms)":[0-9.]+', r'"\1":<ms>'),
    (r"\b[0-9.]+ ms\b", "<ms> ms"),
    (r"\bin [0-9.]+ s\b", "in <s> s"),
    (r"\b(lookup|connect|first byte) [0-9.]+", r"\1 <ms>"),
    (r"(?m)^Age: \d+", "Age: <seconds>"),
    # The system chooses the number of a job's process.
    (r'"process":\d+', '"process":<number>'),
    # Compressed answers have times in them, and answers of folders random numbers.
    (r"served (\d+) requests, [0-9.]+ \w+", r"served \1 requests, <size>"),
]

# The revision of a library in memory is random for a folder of films, and follows from the bytes of a catalogue's file. Its
# tags have the revision, and SOAP has the tags.
IN_MEMORY = [
    (r'"\d{7,16}\.(json|xml|html)', r'"<revision>.\1'),
]

# What replaces text of any length. An answer with it may have another Content-Length in each run.
OF_ANY_LENGTH = [b"<revision>", b"<number>"]

# Pictures of the script's own origin are fresh for a day. An answer tells how much of that is left, which the time since the
# picture was fetched makes a little less.
FRESHNESS = [
    (r"\b(max-age|s-maxage|ttl)=(86400|863[4-9]\d)\b", r"\1=<a day less its age>"),
]


class Normal:
    """The rules of one run."""

    def __init__(self, folder, began):
        """folder: the folder of the run. began: its beginning, in seconds since 1970."""
        self.folder = folder
        # Two seconds for clocks of the file system, which are behind.
        self.began = datetime.datetime.fromtimestamp(began - 2, datetime.timezone.utc)
        # The ports of services and of the script's origin, which the system chooses.
        self.ports = set()

    def text(self, text, rules=()):
        # The temporary folder has a random name.
        text = text.replace(self.folder, "<folder>").replace(urllib.parse.quote(self.folder, ""), "<folder>")
        text = SOURCE.sub(self.source, text)
        text = PORT.sub(lambda match: match[1] + "<port>" if match[2] in self.ports else match[0], text)
        for pattern, replacement in [*ALWAYS, *rules]:
            text = re.sub(pattern, replacement, text)
        # The time of the run. Other times, as of films in catalogues and of files, stay.
        text = TIMESTAMP.sub(lambda match: self.time(match[0], "%Y-%m-%dT%H:%M:%S.%fZ"), text)
        text = HTTP_DATE.sub(lambda match: self.time(match[0], "%a, %d %b %Y %H:%M:%S GMT"), text)
        return DATE.sub(self.date, text)

    def source(self, match):
        """The address in plain text if it has a port of this run. Then its signature is another one in each run too."""
        try:
            address = base64.urlsafe_b64decode(match[3] + "=" * (-len(match[3]) % 4)).decode("utf-8")
        except ValueError:
            return match[0]
        if not any(f":{port}" in address for port in self.ports):
            return match[0]
        if match[1] is None:
            return f"/sources/({address})"
        return f"/image/{'-' if match[1] == '-' else '<signature>'}{match[2]}/({address})"

    def date(self, match):
        """<today> for a day of the run, which statistics of the cache have."""
        days = [self.began.date(), datetime.datetime.now(datetime.timezone.utc).date()]
        return "<today>" if match[0] in map(str, days) else match[0]

    def time(self, text, form):
        """<now> for a time within the run, else the text."""
        time = datetime.datetime.strptime(text, form).replace(tzinfo=datetime.timezone.utc)
        now = datetime.datetime.now(datetime.timezone.utc)
        return "<now>" if self.began <= time <= now else text

    def data(self, data, rules=()):
        """The same for bytes. Bytes that are not text stay as they are."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return data
        return self.text(text, rules).encode("utf-8")

    def form(self, data):
        """The same for a form, whose parts may be pictures: Latin-1 has a character for each byte."""
        return self.text(data.decode("latin-1")).encode("latin-1")
