"""Sets type as outlines, so that the SVGs need no font.

Bebas Neue (Debian: fonts-bebas-neue) has the Latin and Cyrillic capitals of the series;
Droid Sans Fallback (fonts-droid-fallback) has the Chinese and Japanese.
"""

from functools import lru_cache

from fontTools.misc.transform import Transform
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

FONTS = {
    "bold": "/usr/share/fonts/opentype/bebas-neue/BebasNeue-Bold.otf",
    "regular": "/usr/share/fonts/opentype/bebas-neue/BebasNeue-Regular.otf",
    "cjk": "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
}
# The ideographs stand a little taller than the capitals beside them, as they do in print.
CJK_SCALE = 0.86


class Face:
    def __init__(self, path):
        self.font = TTFont(path)
        self.characters = self.font.getBestCmap()
        self.glyphs = self.font.getGlyphSet()
        self.units = self.font["head"].unitsPerEm
        self.pairs = {}
        if "kern" in self.font:
            for table in self.font["kern"].kernTables:
                self.pairs.update(table.kernTable)


@lru_cache(None)
def face(name):
    return Face(FONTS[name])


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Line:
    """A line of type: its glyphs with their places, in units of the size (1 = one em)."""

    def __init__(self, text, weight="bold", tracking=0.0):
        self.glyphs = []
        x, previous = 0.0, None
        for character in text.replace("'", "\u2019"):
            name, scale, lift = weight, 1.0, 0.0
            if ord(character) not in face(weight).characters:
                name, scale, lift = "cjk", CJK_SCALE, 0.02
            used = face(name)
            glyph = used.characters[ord(character)]
            if previous and previous[0] == name:
                x += used.pairs.get((previous[1], glyph), 0) / used.units
            self.glyphs.append((name, glyph, x, lift, scale))
            x += used.glyphs[glyph].width * scale / used.units + tracking
            previous = (name, glyph)
        self.left, self.bottom, self.right, self.top = self.bounds()

    def draw(self, pen, place):
        for name, glyph, offset, lift, scale in self.glyphs:
            used = face(name)
            # A glyph may be made of others, which belong to this face alone.
            outline = DecomposingRecordingPen(used.glyphs)
            used.glyphs[glyph].draw(outline)
            outline.replay(TransformPen(pen, place.translate(offset, lift).scale(scale / used.units)))

    def bounds(self):
        pen = BoundsPen(None)
        self.draw(pen, Transform())
        return pen.bounds

    @property
    def width(self):
        return self.right - self.left

    def path(self, size, x, y):
        """The outline with its ink starting at x and its baseline at y."""
        pen = SVGPathPen(None, ntos=number)
        self.draw(pen, Transform(size, 0, 0, -size, x - self.left * size, y))
        return pen.getCommands()
