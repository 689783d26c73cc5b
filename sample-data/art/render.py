#!/usr/bin/env python3
"""Renders the SVGs into the posters: render.py [--sheet FILE] [ID...]

Needs rsvg-convert (librsvg2-bin), cjpeg (libjpeg-turbo-progs), numpy and Pillow (PyPI).
The grain is seeded by the film's id, so the same tools give the same bytes.
"""

import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LARGEST = 80_000  # bytes a poster

GRAIN = 4.2  # levels, standard deviation
BASELINE = ["-sample", "2x2"]

# What a viewer meets in the wild; every other poster is a baseline JPEG with 4:2:0.
JPEG_OPTIONS = {
    "the-cabinet-of-dr-caligari": ["-grayscale"],
    "haxan": ["-sample", "1x1"],
    "battleship-potemkin": ["-sample", "1x1"],
    "the-passion-of-joan-of-arc": ["-sample", "1x1"],
    "nosferatu": ["-sample", "2x2", "-progressive"],
    "metropolis": ["-sample", "2x2", "-progressive"],
    "sunrise": ["-sample", "1x1", "-progressive"],
    "the-general": ["-sample", "2x1"],
    "man-with-a-movie-camera": ["-sample", "2x2", "-restart", "4"],
}
# Exif orientation 6: the pixels lie on their left side and are to be turned clockwise.
TURNED = {"the-wind"}
PNG_KINDS = {"aelita": "palette", "laborers-love": "rgb", "the-adventures-of-prince-achmed": "rgba"}


def drawn(film_id):
    """The SVG at twice the size, brought down: finer edges than at once."""
    svg = HERE / f"{film_id}.svg"
    png = subprocess.run(["rsvg-convert", "-w", "1000", "-h", "1500", svg], check=True, capture_output=True).stdout
    return Image.open(io.BytesIO(png)).convert("RGBA").resize((500, 750), Image.Resampling.BOX)


def grained(picture, film_id, strength):
    """Luminance noise, a little clumped as in film."""
    seed = int.from_bytes(hashlib.sha256(film_id.encode()).digest()[:8], "big")
    noise = numpy.random.Generator(numpy.random.PCG64(seed)).standard_normal((752, 502))
    clumped = (noise[1:-1, 1:-1] * 2 + noise[:-2, 1:-1] + noise[2:, 1:-1] + noise[1:-1, :-2] + noise[1:-1, 2:]) / 8**0.5
    pixels = numpy.asarray(picture.convert("RGB"), dtype=numpy.float64) + clumped[:, :, None] * strength
    return Image.fromarray(numpy.clip(numpy.rint(pixels), 0, 255).astype(numpy.uint8))


def jpeg(picture, options):
    """The best quality that fits."""
    ppm = io.BytesIO()
    picture.save(ppm, "PPM")
    for quality in range(90, 59, -2):
        command = ["cjpeg", "-quality", str(quality), "-optimize", *options]
        data = subprocess.run(command, input=ppm.getvalue(), check=True, capture_output=True).stdout
        if len(data) <= LARGEST:
            return data
    sys.exit("a poster does not fit in its 80 KB")


def with_orientation(data, orientation):
    """The JPEG with an Exif segment of one entry, after SOI and JFIF (Exif 2.32, 4.5.4 and 4.6.2)."""
    entry = bytes.fromhex("0112 0003 00000001") + orientation.to_bytes(2, "big") + b"\0\0"
    tiff = b"MM\0\x2a" + (8).to_bytes(4, "big") + b"\0\x01" + entry + bytes(4)
    body = b"Exif\0\0" + tiff
    segment = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    after_jfif = 4 + int.from_bytes(data[4:6], "big")
    return data[:after_jfif] + segment + data[after_jfif:]


def png(picture, kind):
    """No grain here: a lossless file would store every speck of it. The edges of shapes keep
    so few shades that the eye misses nothing and the file is half as large."""
    flat = picture.convert("RGB").quantize(48 if kind == "palette" else 96, Image.Quantize.MEDIANCUT,
                                           dither=Image.Dither.NONE)
    if kind == "palette":
        result = flat
    else:
        result = flat.convert("RGB")
        if kind == "rgba":
            result.putalpha(picture.getchannel("A"))
    out = io.BytesIO()
    result.save(out, "PNG", optimize=True)
    return out.getvalue()


def poster(film_id):
    picture = drawn(film_id)
    if film_id in PNG_KINDS:
        return png(picture, PNG_KINDS[film_id])
    picture = grained(picture, film_id, GRAIN)
    options = JPEG_OPTIONS.get(film_id, BASELINE)
    if film_id in TURNED:
        return with_orientation(jpeg(picture.transpose(Image.Transpose.ROTATE_90), options), 6)
    return jpeg(picture, options)


def sheet(movies, file, columns=9, width=180):
    """All posters side by side in the catalogue's order."""
    height, gap = width * 3 // 2, width // 15
    rows = -(-len(movies) // columns)
    page = Image.new("RGB", (columns * (width + gap) + gap, rows * (height + gap) + gap), "#3A3D42")
    for index, movie in enumerate(movies):
        path = ROOT / movie["poster"]
        if not path.exists():
            continue
        picture = Image.open(path)
        if picture.getexif().get(0x0112) == 6:
            picture = picture.transpose(Image.Transpose.ROTATE_270)
        picture = picture.convert("RGBA").resize((width, height), Image.Resampling.LANCZOS)
        place = gap + index % columns * (width + gap), gap + index // columns * (height + gap)
        page.paste(picture, place, picture)
    page.save(file)


def main():
    arguments = sys.argv[1:]
    sheet_file = None
    if "--sheet" in arguments:
        at = arguments.index("--sheet")
        sheet_file = arguments[at + 1]
        del arguments[at:at + 2]
    movies = json.loads((ROOT / "movies.json").read_text(encoding="utf-8"))["movies"]
    (ROOT / "posters").mkdir(exist_ok=True)
    for movie in movies:
        if arguments and movie["id"] not in arguments:
            continue
        data = poster(movie["id"])
        if len(data) > LARGEST:
            sys.exit(f"{movie['poster']} has {len(data)} bytes")
        (ROOT / movie["poster"]).write_bytes(data)
    if sheet_file:
        sheet(movies, sheet_file)


if __name__ == "__main__":
    main()
