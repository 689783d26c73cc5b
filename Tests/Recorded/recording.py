"""The recording of one face: a file of JSON with an object for each case.

Text is an array of its lines, so that a change of one line is one line of a diff."""

import hashlib
import json

# Larger bodies are recorded by their length and checksum.
LONGEST_TEXT = 4096
# The characters of a line that a difference shows.
SHOWN = 120


def content(data):
    """Bytes as the recording has them: the lines of a short text, else length and checksum."""
    if len(data) <= LONGEST_TEXT:
        try:
            return data.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            pass
    return [f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}"]


class Recording:
    def __init__(self, path):
        self.path = path

    @property
    def exists(self):
        return self.path.is_file()

    def write(self, cases):
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def differences(self, cases):
        """A line for each part of a case that differs, and for each case that only one side has."""
        face = self.path.stem
        before = json.loads(self.path.read_text(encoding="utf-8"))
        lines = [f"{face}: {name}: recorded, but did not run" for name in before if name not in cases]
        for name, case in cases.items():
            if name not in before:
                lines.append(f"{face}: {name}: ran, but is not recorded: {shown(json.dumps(case))}")
                continue
            for part in dict.fromkeys([*before[name], *case]):
                text = difference(before[name].get(part), case.get(part))
                if text:
                    lines.append(f"{face}: {name}: {part}: {text}")
        return lines


def difference(before, after):
    """What differs between two values of a case; None if they are equal."""
    if before == after:
        return None
    if not (isinstance(before, list) and isinstance(after, list)):
        return f"before {shown(before)}, after {shown(after)}"
    number = first_difference(before, after)
    old = before[number] if number < len(before) else None
    new = after[number] if number < len(after) else None
    start = first_difference(old or "", new or "")
    return f"line {number + 1}: before {shown(old, start)}, after {shown(new, start)}"


def first_difference(before, after):
    """The index of the first elements that differ."""
    pairs = enumerate(zip(before, after))
    return next((index for index, (old, new) in pairs if old != new), min(len(before), len(after)))


def shown(value, difference=0):
    """A value for a message. A long line is cut to the part around the difference."""
    if value is None:
        return "nothing"
    if isinstance(value, str) and len(value) > SHOWN:
        start = max(0, min(difference - 40, len(value) - SHOWN))
        value = ("…" if start else "") + value[start : start + SHOWN] + ("…" if start + SHOWN < len(value) else "")
    return json.dumps(value, ensure_ascii=False)
