#!/usr/bin/env python3
"""Writes the SVG of every poster, or of those whose ids are named: draw.py [ID...]

Needs fontTools (PyPI) and the fonts named in lettering.py.
"""

import json
import sys
from pathlib import Path

import films_1902_1920
import films_1921_1923
import films_1924_1925
import films_1926_1927
import films_1928_1929

HERE = Path(__file__).resolve().parent
MODULES = (films_1902_1920, films_1921_1923, films_1924_1925, films_1926_1927, films_1928_1929)


def drawing(film_id):
    """Each poster is drawn by the function named after its film."""
    name = film_id.replace("-", "_")
    return next((getattr(module, name) for module in MODULES if hasattr(module, name)), None)


def main():
    movies = json.loads((HERE.parent / "movies.json").read_text(encoding="utf-8"))["movies"]
    wanted = set(sys.argv[1:])
    for movie in movies:
        if wanted and movie["id"] not in wanted:
            continue
        draw = drawing(movie["id"])
        if draw is None:
            sys.exit(f"nobody draws {movie['id']}")
        poster = draw()
        poster.credits(movie.get("originalTitle"), movie["director"], movie["year"])
        (HERE / f"{movie['id']}.svg").write_text(poster.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
