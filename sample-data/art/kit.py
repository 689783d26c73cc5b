"""The tools every poster of the series is drawn with: palette, shapes, second layers, type."""

import math

from lettering import Line

WIDTH, HEIGHT, MARGIN = 500, 750, 25

PAPER, INK, RED, ORANGE = "#F2E8D5", "#14161A", "#C8372D", "#E58A2F"
YELLOW, GREEN, TEAL, BLUE = "#F0C54A", "#3E7C59", "#2F8C8C", "#2B4C8C"
NIGHT, VIOLET, ROSE, GREY = "#1B2440", "#6A4C93", "#D98C9F", "#8A8F98"

# The foot of every poster: a rule, the credits under it, the title's last baseline above.
RULE_Y, CREDIT_Y, TITLE_BASELINE = 697, 722, 681
CAPITAL = 0.7  # the height of a Bebas Neue capital, in ems
LINE_GAP = 11
TALLEST_CAPITAL = 172


def overprint(colour, ground, share):
    """The tone of one ink printed over another. A poster has two accents besides its ground,
    so its further tones come from printing one of them, or the black, over another."""
    top, below = (tuple(int(c[i:i + 2], 16) for i in (1, 3, 5)) for c in (colour, ground))
    return "#" + "".join(f"{round(b + (t - b) * share):02X}" for t, b in zip(top, below))


def n(value):
    """A coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0") if abs(value) >= 0.05 else "0"


def tag(name, content=None, **attributes):
    parts = [name]
    for key, value in attributes.items():
        if value is None:
            continue
        if isinstance(value, float):
            value = f"{value:.3f}".rstrip("0").rstrip(".")
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{value}"')
    head = " ".join(parts)
    return f"<{head}/>" if content is None else f"<{head}>{content}</{name}>"


def path(d, fill, **more):
    return tag("path", d=d, fill=fill, **more)


def stroke(d, colour, width, cap="butt", join="miter", **more):
    return tag("path", d=d, fill="none", stroke=colour, stroke_width=n(width),
               stroke_linecap=None if cap == "butt" else cap,
               stroke_linejoin=None if join == "miter" else join, **more)


def rect(x, y, width, height, fill, **more):
    return tag("rect", x=n(x), y=n(y), width=n(width), height=n(height), fill=fill, **more)


def circle(cx, cy, r, fill, **more):
    return tag("circle", cx=n(cx), cy=n(cy), r=n(r), fill=fill, **more)


def ring(cx, cy, r, colour, width, **more):
    return tag("circle", cx=n(cx), cy=n(cy), r=n(r), fill="none", stroke=colour, stroke_width=n(width), **more)


def ellipse(cx, cy, rx, ry, fill, **more):
    return tag("ellipse", cx=n(cx), cy=n(cy), rx=n(rx), ry=n(ry), fill=fill, **more)


def polygon(points, fill, **more):
    return path(points_d(points), fill, **more)


def points_d(points):
    return "M" + "L".join(f"{n(x)} {n(y)}" for x, y in points) + "Z"


def disc_d(cx, cy, r):
    return f"M{n(cx - r)} {n(cy)}a{n(r)} {n(r)} 0 1 1 {n(2 * r)} 0a{n(r)} {n(r)} 0 1 1 {n(-2 * r)} 0Z"


def box_d(x, y, width, height):
    return f"M{n(x)} {n(y)}h{n(width)}v{n(height)}h{n(-width)}Z"


def group(*content, **attributes):
    return tag("g", "".join(content), **attributes)


def turned(degrees, cx, cy, *content):
    return group(*content, transform=f"rotate({n(degrees)} {n(cx)} {n(cy)})")


def placed(x, y, *content, scale=1.0, degrees=0):
    """Content drawn around (0, 0), carried to (x, y). A pair of scales may mirror it."""
    sx, sy = scale if isinstance(scale, tuple) else (scale, scale)
    steps = f"translate({n(x)} {n(y)})"
    if degrees:
        steps += f" rotate({n(degrees)})"
    if (sx, sy) != (1, 1):
        steps += f" scale({sx:g} {sy:g})"
    return group(*content, transform=steps)


def polar(cx, cy, r, degrees):
    angle = math.radians(degrees)
    return cx + r * math.cos(angle), cy + r * math.sin(angle)


def smooth(points, closed=True, tension=1.0):
    """A curve through points (Catmull-Rom). A point with a third item is a corner."""
    count = len(points)
    segments = count if closed else count - 1
    d = f"M{n(points[0][0])} {n(points[0][1])}"

    def tangent(i):
        if len(points[i % count]) > 2:
            return None
        if not closed and i in (0, count - 1):
            return None
        before, after = points[(i - 1) % count], points[(i + 1) % count]
        return (after[0] - before[0]) * tension / 6, (after[1] - before[1]) * tension / 6

    for i in range(segments):
        a, b = points[i], points[(i + 1) % count]
        start, end = tangent(i), tangent((i + 1) % count)
        # Where a curve leaves a corner it heads for the next point.
        start = start or ((b[0] - a[0]) / 4, (b[1] - a[1]) / 4)
        end = end or ((b[0] - a[0]) / 4, (b[1] - a[1]) / 4)
        d += (f"C{n(a[0] + start[0])} {n(a[1] + start[1])} {n(b[0] - end[0])} {n(b[1] - end[1])} "
              f"{n(b[0])} {n(b[1])}")
    return d + ("Z" if closed else "")


def limb(points, colour, **more):
    """A tapering arm or leg through (x, y, half width) points, round at its joints."""
    out = "".join(disc_d(x, y, w) for x, y, w in points)
    for (ax, ay, aw), (bx, by, bw) in zip(points, points[1:]):
        length = math.hypot(bx - ax, by - ay)
        ox, oy = (ay - by) / length, (bx - ax) / length
        corners = [(ax + ox * aw, ay + oy * aw), (ax - ox * aw, ay - oy * aw), (bx - ox * bw, by - oy * bw),
                   (bx + ox * bw, by + oy * bw)]
        out += points_d(corners)
    return path(out, colour, **more)


def rays(cx, cy, inner, outer, count, colour, share=0.5, start=0.0, stop=360.0, **more):
    """Wedges from a centre; `share` is the part of each step that is filled."""
    step = (stop - start) / count
    d = ""
    for i in range(count):
        a, b = start + i * step, start + (i + share) * step
        corners = [polar(cx, cy, inner, a), polar(cx, cy, outer, a), polar(cx, cy, outer, b), polar(cx, cy, inner, b)]
        d += points_d(corners)
    return path(d, colour, **more)


def halftone(box, pitch, radius, colour, degrees=45, **more):
    """Dots on a turned grid; radius(u, v) is asked with u, v in 0...1 across the box."""
    x0, y0, width, height = box
    angle = math.radians(degrees)
    cosine, sine = math.cos(angle), math.sin(angle)
    cx, cy = x0 + width / 2, y0 + height / 2
    reach = int(math.hypot(width, height) / 2 / pitch) + 2
    sizes = {}
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            x = cx + (i * cosine - j * sine) * pitch
            y = cy + (i * sine + j * cosine) * pitch
            u, v = (x - x0) / width, (y - y0) / height
            if not (-0.03 <= u <= 1.03 and -0.03 <= v <= 1.03):
                continue
            r = round(radius(u, v) * 2) / 2
            if r >= 0.5:
                sizes.setdefault(r, []).append(f"M{x:.0f} {y:.0f}h0")
    # A dot is a line of no length with a round cap: a dozen bytes instead of fifty.
    return group(*(tag("path", d="".join(dots), stroke_width=n(2 * r)) for r, dots in sorted(sizes.items())),
                 stroke=colour, stroke_linecap="round", **more)


def stripes(box, pitch, width, colour, degrees=0, **more):
    """Parallel bars; width is a number or a function of 0...1 across them. Level bars fill the
    box exactly, turned ones cover it and want a clip."""
    x, y, w, h = box
    if degrees:
        reach = math.hypot(w, h)
        x, y, w, h = x + (w - reach) / 2, y + (h - reach) / 2, reach, reach
    count = max(2, int(h / pitch))
    d = ""
    for i in range(count):
        thickness = width(i / (count - 1)) if callable(width) else width
        if thickness > 0.1:
            d += box_d(x, y + i * pitch, w, thickness)
    turn = f"rotate({n(degrees)} {n(box[0] + box[2] / 2)} {n(box[1] + box[3] / 2)})" if degrees else None
    return path(d, colour, transform=turn, **more)


class Poster:
    def __init__(self, ground):
        self.ground = ground
        self.body = []
        self.definitions = []
        self.sheet = None  # the outline of the paper, where it is not the whole canvas
        self.foot = (PAPER, PAPER)  # the colours of the credits and of the rule

    def add(self, *content):
        self.body.extend(content)

    def clip(self, d, *content, **more):
        """Content seen only inside an outline."""
        name = f"c{len(self.definitions)}"
        self.definitions.append(tag("clipPath", path(d, "#000"), id=name))
        return group(*content, clip_path=f"url(#{name})", **more)

    def shadow(self, d, dx=7, dy=9, opacity=0.28, colour=INK):
        """The shadow of cut paper: hard, a little to the right and below."""
        return path(d, colour, opacity=float(opacity), transform=f"translate({dx} {dy})")

    def cut(self, d, fill, dx=7, dy=9, opacity=0.28):
        """A shape of paper laid on the poster, with its shadow."""
        return self.shadow(d, dx, dy, opacity) + path(d, fill)

    def title(self, *lines, colour=PAPER, shadow=None, tallest=TALLEST_CAPITAL):
        """Each line as wide as the margins allow; the last one stands on the shared baseline."""
        y = TITLE_BASELINE
        for text in reversed(lines):
            line = Line(text.upper(), "bold", tracking=-0.006)
            size = min((WIDTH - 2 * MARGIN) / line.width, tallest / CAPITAL)
            d = line.path(size, MARGIN, y)
            if shadow:
                self.add(path(d, shadow, transform="translate(4 5)"))
            self.add(path(d, colour))
            y -= line.top * size + LINE_GAP
        self.title_top = y + LINE_GAP

    def credits(self, original, director, year):
        colour, rule = self.foot
        self.add(rect(MARGIN, RULE_Y, WIDTH - 2 * MARGIN, 3, rule))
        size, gap = 20.5, 20
        left = [Line(text.upper(), "regular", tracking=0.035) for text in (original, director) if text]
        right = Line(str(year), "regular", tracking=0.035)
        room = WIDTH - 2 * MARGIN - gap
        needed = sum(line.width for line in left) * size + gap * len(left) + right.width * size
        size = min(size, size * (room + gap) / (needed + gap))
        x = MARGIN
        for index, line in enumerate(left):
            if index:
                self.add(circle(x + gap / 2, CREDIT_Y - CAPITAL * size / 2, 2.2, rule))
                x += gap
            self.add(path(line.path(size, x, CREDIT_Y), colour))
            x += line.width * size
        self.add(path(right.path(size, WIDTH - MARGIN - right.width * size, CREDIT_Y), colour))

    def svg(self):
        definitions = tag("defs", "".join(self.definitions)) if self.definitions else ""
        ground = rect(0, 0, WIDTH, HEIGHT, self.ground)
        lines = [definitions, ground, *self.body]
        if self.sheet:
            edge = tag("clipPath", path(self.sheet, "#000", clip_rule="evenodd"), id="sheet")
            lines = [tag("defs", edge), '<g clip-path="url(#sheet)">', *lines, "</g>"]
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}">\n' + "\n".join(line for line in lines if line) + "\n</svg>\n")
