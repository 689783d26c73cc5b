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
# Nearly all types have these.
IMPLIED = {"Copyable", "Escapable", "Sendable", "SendableMetatype", "Equatable", "CustomStringConvertible"}
HEAD = """# The interface on one page

Every public declaration, by module and type, without its comments.

## Overview

The modules `ImageCodecs` and `HTTPSemantics` come with `import LazyImages`. All types are `Sendable`. `Tests/Documentation/`
`interface.py` writes this page. Operators, and what a type has by `Hashable` or `RawRepresentable`, are left out. Of a
protocol, a member in an extension need not be written.
"""


def symbols(folder, module):
    """The symbols of a module and of its extensions of other modules, without those that the compiler adds; and the
    protocols of each type."""
    found, protocols = {}, {}
    for path in sorted(folder.rglob(f"{module}*.symbols.json")):
        if path.name.split(".")[0].split("@")[0] != module:
            continue
        graph = json.loads(path.read_text())
        for relation in graph["relationships"]:
            name = relation.get("targetFallback", "").split(".")[-1]
            if relation["kind"] == "conformsTo" and name and name not in IMPLIED:
                protocols.setdefault(relation["source"], set()).add(name)
        for symbol in graph["symbols"]:
            identifier = symbol["identifier"]["precise"]
            isHash = symbol["names"]["title"] in ("hash(into:)", "hashValue")
            if "::SYNTHESIZED::" not in identifier and symbol["kind"]["identifier"] not in LEFT_OUT and not isHash:
                found[identifier] = symbol
    return list(found.values()), protocols


def declaration(symbol):
    text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    return " ".join(text.split()).replace(" { get set }", "").replace("@discardableResult ", "")


def lines(members, title, comment, header):
    order = ["swift.enum.case", "swift.init", "swift.type.property", "swift.type.method"]
    members.sort(key=lambda s: (
        order.index(s["kind"]["identifier"]) if s["kind"]["identifier"] in order else len(order),
        s["names"]["title"], declaration(s)))
    isProtocol = header.startswith("protocol")
    required = [declaration(s) for s in members if not (isProtocol and "swiftExtension" in s)]
    added = [declaration(s) for s in members if isProtocol and "swiftExtension" in s]
    text = [f"### {title}", "", comment, "", "```", header]
    text += ["    " + line for line in dict.fromkeys(line for line in required if line not in added)]
    if added:
        text += ["    // in an extension"] + ["    " + line for line in dict.fromkeys(added)]
    return "\n".join(text + ["```", ""])


def sections(folder):
    for module in MODULES:
        yield f"\n## {module}\n"
        all_symbols, protocols = symbols(folder, module)
        types = [s for s in all_symbols if s["kind"]["identifier"] in TYPES]
        names = {tuple(s["pathComponents"]) for s in types}
        others = [s for s in all_symbols if s["kind"]["identifier"] not in TYPES]
        for kind in sorted(types, key=lambda s: s["pathComponents"]):
            path = kind["pathComponents"]
            title = ".".join(path)
            comment = first_sentence(kind.get("docComment", {}).get("lines", [{"text": ""}]))
            header = declaration(kind).replace(path[-1], title, 1)
            adopted = sorted(protocols.get(kind["identifier"]["precise"], []))
            if adopted and not header.startswith("protocol"):
                header += ": " + ", ".join(adopted)
            yield lines([s for s in others if s["pathComponents"][:-1] == path], title, comment, header)
        for path in sorted({tuple(s["pathComponents"][:-1]) for s in others} - names):
            members = [s for s in others if tuple(s["pathComponents"][:-1]) == path]
            title = ".".join(path)
            yield lines(members, title, f"An extension by `{module}`.", "extension " + title)


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
