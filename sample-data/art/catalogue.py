#!/usr/bin/env python3
"""Writes movies.xml, manifest.json and manifest.txt from movies.json and the posters.

movies.json is the one place where a fact is changed; run this afterwards, and after draw.py
and render.py when a poster changed. With --check nothing is written, and the exit status is
1 when a file is not what it should be.
"""

import hashlib
import json
import sys
import unicodedata
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parent.parent


def xml(catalogue):
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<catalogue name={quoteattr(catalogue['name'])}>"]
    for movie in catalogue["movies"]:
        lines.append(f"  <movie id={quoteattr(movie['id'])}>")
        for key, value in movie.items():
            if key == "id":
                continue
            if key == "genres":
                inner = "".join(f"<genre>{escape(genre)}</genre>" for genre in value)
            else:
                inner = escape(str(value))
            lines.append(f"    <{key}>{inner}</{key}>")
        lines.append("  </movie>")
    lines.append("</catalogue>")
    return "\n".join(lines) + "\n"


def manifest_json(catalogue):
    images = []
    for movie in catalogue["movies"]:
        poster = (ROOT / movie["poster"]).read_bytes()
        images.append({"url": movie["poster"], "sha256": hashlib.sha256(poster).hexdigest()})
    return json.dumps({"images": images}, ensure_ascii=False, indent=2) + "\n"


def manifest_text(catalogue):
    lines = [
        f"# The posters of {catalogue['name']}, one address a line.",
        "# They are relative to this file and written as a person would type them.",
    ]
    decade = None
    for movie in catalogue["movies"]:
        if movie["year"] // 10 != decade:
            decade = movie["year"] // 10
            lines += ["", f"# {decade}0s"]
        lines.append(movie["poster"])
    return "\n".join(lines) + "\n"


def main():
    source = (ROOT / "movies.json").read_text(encoding="utf-8")
    # Names in Git are bytes: one spelling only, the composed one.
    if not unicodedata.is_normalized("NFC", source):
        sys.exit("movies.json is not in Unicode normalisation form C")
    catalogue = json.loads(source)
    wanted = {
        "movies.xml": xml(catalogue),
        "manifest.json": manifest_json(catalogue),
        "manifest.txt": manifest_text(catalogue),
    }
    stale = []
    for name, text in wanted.items():
        path = ROOT / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit("not what movies.json and the posters say: " + ", ".join(stale))


if __name__ == "__main__":
    main()
