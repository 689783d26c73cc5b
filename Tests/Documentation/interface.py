#!/usr/bin/env python3
"""Writes the article Interface: all public declarations of the library, by type.

    Tests/Documentation/interface.py GRAPHS [--record]

GRAPHS is the folder of the symbol graphs, which convert.sh makes. Without --record it compares the article with them, and
fails if they differ.
"""

import json
import pathlib
import sys

MODULES = ["LazyImages", "ImageCodecs", "HTTPSemantics", "BackgroundTransfers", "PictureService"]
PAGE = pathlib.Path(__file__).parents[2] / "Sources/LazyImages/LazyImages.docc/Interface.md"
TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol"}
# What each type has by its protocols.
LEFT_OUT = {"swift.func.op", "swift.deinit"}
HEAD = """# The interface on one page

Every public declaration, by module and type, without its comments.

## Overview

The modules `ImageCodecs` and `HTTPSemantics` come with `import LazyImages`. `Tests/Documentation/interface.py` writes this
page. Operators, and what a type has by `Hashable`, are left out.
"""


def symbols(folder, module):
    """The symbols of a module and of its extensions of other modules, without those that the compiler adds."""
    found = {}
    for path in sorted(folder.rglob(f"{module}*.symbols.json")):
        if path.name.split(".")[0].split("@")[0] != module:
            continue
        for symbol in json.loads(path.read_text())["symbols"]:
            identifier = symbol["identifier"]["precise"]
            isHash = symbol["names"]["title"] in ("hash(into:)", "hashValue")
            if "::SYNTHESIZED::" not in identifier and symbol["kind"]["identifier"] not in LEFT_OUT and not isHash:
                found[identifier] = symbol
    return list(found.values())


def declaration(symbol):
    text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    return " ".join(text.split()).replace(" { get set }", "").replace("@discardableResult ", "")


def sections(folder):
    for module in MODULES:
        yield f"\n## {module}\n"
        all_symbols = symbols(folder, module)
        types = [s for s in all_symbols if s["kind"]["identifier"] in TYPES]
        for kind in sorted(types, key=lambda s: s["pathComponents"]):
            path = kind["pathComponents"]
            comment = kind.get("docComment", {}).get("lines", [{"text": ""}])
            members = [
                s for s in all_symbols
                if s["pathComponents"][:-1] == path and s["kind"]["identifier"] not in TYPES
            ]
            order = ["swift.enum.case", "swift.init", "swift.type.property", "swift.type.method"]
            members.sort(key=lambda s: (
                order.index(s["kind"]["identifier"]) if s["kind"]["identifier"] in order else len(order),
                s["names"]["title"], declaration(s)))
            # A protocol's requirement and its default have the same declaration.
            lines = list(dict.fromkeys("    " + declaration(s) for s in members))
            header = declaration(kind).replace(path[-1], ".".join(path), 1)
            yield "\n".join(
                [f"### {'.'.join(path)}", "", first_sentence(comment), "", "```", header] + lines + ["```", ""])


def first_sentence(lines):
    text = " ".join(line["text"].strip() for line in lines).split("  ")[0]
    end = text.find(". ")
    return (text if end < 0 else text[: end + 1]).replace("``", "`")


def main():
    page = HEAD + "\n".join(sections(pathlib.Path(sys.argv[1])))
    if "--record" in sys.argv:
        PAGE.write_text(page)
        return
    if not PAGE.exists() or PAGE.read_text() != page:
        sys.exit(f"{PAGE.name} is not the interface: Tests/Documentation/interface.py GRAPHS --record writes it anew")
    print(f"{PAGE.name} has {page.count(chr(10) + '    ')} declarations")


main()
