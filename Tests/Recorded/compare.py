#!/usr/bin/env python3
"""Compares the answers and the output of a marquee program with recorded ones.

    Tests/Recorded/compare.py PROGRAM [--record] [--keep DIR]

Runs the cases of the folder `tables`: requests to services that PROGRAM starts, and commands. The recording of each face is
a file of the folder `recording`. Prints a line for each difference. --record writes the recordings anew. --keep writes every
body of this run, and every output of a command, to a file of DIR, an empty or new folder; `diff -r` shows how those of two
runs differ.

The status is 0 if all is equal, 1 if anything differs or PROGRAM does not work at all, 2 if the words are wrong.

Needs Python 3.9 with its standard library, and libcurl and SQLite, as the program does.
"""
import sys

# Before the imports: no compiled files stay in the repository.
sys.dont_write_bytecode = True

import os
import pathlib
import signal
import time

import running
from recording import Recording
from tables import (
    commands_files, commands_films, commands_libraries, commands_usage, pages, pictures, rest_reading, rest_serving,
    rest_writing, soap)
from workplace import Failure, Workplace

# Each face has tables of sites, and a file of the recording.
FACES = {
    "rest": [rest_reading, rest_writing, rest_serving],
    "pictures": [pictures],
    "pages": [pages],
    "soap": [soap],
    "commands": [commands_usage, commands_films, commands_files, commands_libraries],
}
FOLDER = pathlib.Path(__file__).resolve().parent / "recording"
USAGE = "usage: Tests/Recorded/compare.py PROGRAM [--record] [--keep DIR]"


class Misuse(Exception):
    """The words of the command line are wrong."""


def options(words):
    """The program, whether to record, and the folder to keep bodies in or None."""
    program, records, kept = None, False, None
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--record":
            records = True
        elif word == "--keep":
            if not words or kept is not None:
                raise Misuse(USAGE)
            kept = pathlib.Path(words.pop(0))
            if kept.exists() and not (kept.is_dir() and not any(kept.iterdir())):
                raise Misuse(f"{kept} is not an empty folder")
        elif word.startswith("-") or program is not None:
            raise Misuse(USAGE)
        else:
            program = pathlib.Path(word).resolve()
    if program is None:
        raise Misuse(USAGE)
    if not (program.is_file() and os.access(program, os.X_OK)):
        raise Misuse(f"{program} is not a program")
    return program, records, kept


def run(program):
    """The results of all faces, and the bodies that `--keep` writes."""
    results, bodies = {}, {}
    with Workplace(program) as place:
        for face, tables in FACES.items():
            sites = [site for table in tables for site in table.sites(place)]
            results[face] = running.results(sites, place, bodies.setdefault(face, {}))
    return results, bodies


def keep(bodies, folder):
    """Writes each body to a file of its own."""
    for face, files in bodies.items():
        (folder / face).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / face / name).write_bytes(data)


def summary(results, began):
    counts = ", ".join(f"{face} {len(cases)}" for face, cases in results.items())
    return f"{sum(map(len, results.values()))} cases ({counts}) in {time.monotonic() - began:.0f} s"


def main():
    # So that a signal ends the services too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    # Below nohup it is ignored, also by the services: they would not read their tokens anew.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    began = time.monotonic()
    try:
        program, records, folder = options(sys.argv[1:])
        recordings = {face: Recording(FOLDER / f"{face}.json") for face in FACES}
        if not records and not all(recording.exists for recording in recordings.values()):
            raise Misuse("there is no recording; make one with --record")
    except Misuse as misuse:
        print(misuse, file=sys.stderr)
        return 2
    try:
        results, bodies = run(program)
    except Failure as failure:
        print(failure)
        return 1
    if folder:
        keep(bodies, folder)
    if records:
        for face, cases in results.items():
            recordings[face].write(cases)
        print("recorded", summary(results, began))
        return 0
    differences = [line for face, cases in results.items() for line in recordings[face].differences(cases)]
    for line in differences:
        print(line)
    result = f"differences: {len(differences)} in" if differences else "all equal:"
    print(result, summary(results, began), file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
