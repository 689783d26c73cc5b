"""The posters of the films of 1921 to 1923."""

import math

from kit import *


def the_kid():
    p = Poster(ROSE)
    dark, shade, wool = overprint(INK, PAPER, 0.72), overprint(INK, PAPER, 0.45), overprint(INK, ROSE, 0.5)
    panel = overprint(RED, YELLOW, 0.45)
    for row in range(17):
        for k in range(-1, 8):
            x = 25 + k * 66 + (33 if row % 2 else 0)
            left, right = max(25, x), min(475, x + 60)
            if right - left > 8:
                p.add(rect(left, 25 + row * 25, right - left, 19, RED, opacity=0.32))
    door = box_d(92, 25, 316, 420)
    p.add(p.cut(door, INK, 8, 0), rect(104, 37, 292, 408, YELLOW))
    for x in (122, 262):
        p.add(rect(x, 58, 116, 150, panel), rect(x, 230, 116, 200, panel))
    p.add(rect(25, 440, 450, 26, PAPER), rect(25, 466, 450, 62, shade), rect(25, 466, 450, 9, INK, opacity=0.4))

    def legs(cx, spread, width, height, colour, shoe):
        out = ""
        for side in (-1, 1):
            x = cx + side * spread
            out += path(f"M{x - width} 424Q{x} 404 {x + width} 424L{x + width * 0.8} {height}L{x - width * 0.8}"
                        f" {height}Z", colour)
            out += ellipse(x + side * shoe * 0.5, 518, shoe, 12, INK)
        return out

    # The tramp.
    big = "M112 440Q104 330 150 302Q176 290 200 290Q224 290 250 302Q296 330 288 440Z"
    p.add(p.cut(big, INK, 6, 0), path("M178 290L222 290L206 372L194 372Z", PAPER),
          path("M196 300L204 300L209 350L200 364L191 350Z", RED))
    p.add(legs(200, 40, 34, 508, dark, 34))
    p.add(ellipse(200, 236, 46, 56, PAPER), path("M150 232Q140 190 156 176L244 176Q260 190 250 232L240 206L160 206Z",
                                                 INK))
    p.add(path("M150 180Q148 96 200 96Q252 96 250 180Z", INK),
          path("M126 182Q200 164 274 182Q262 200 200 196Q138 200 126 182Z", INK),
          path("M151 158L249 158L250 170L150 170Z", shade))
    p.add(circle(183, 228, 5, INK), circle(217, 228, 5, INK), stroke("M170 214L190 210M210 210L230 214", INK, 5),
          path("M186 258Q200 248 214 258L216 270L184 270Z", INK), stroke("M188 280Q200 275 212 280", INK, 3))
    p.add(stroke("M150 340Q146 392 166 418M250 340Q254 392 234 418", YELLOW, 2.5))
    # The boy.
    small = "M274 440Q272 374 304 358L372 358Q404 374 402 440Z"
    boy = [p.shadow(small, 6, 0), path(small, PAPER), stroke("M286 380H392M280 402H396M278 424H400", RED, 9),
           legs(338, 27, 25, 510, wool, 22), ellipse(338, 322, 38, 42, PAPER),
           path("M298 314Q288 262 338 256Q388 262 378 314Q338 292 298 314Z", RED),
           path("M290 316Q312 288 352 296Q320 306 318 326Z", INK), circle(326, 326, 4.5, INK),
           circle(352, 326, 4.5, INK), stroke("M328 346Q339 340 350 346", INK, 3.5, cap="round")]
    p.add(group(*boy, transform="translate(16 0)"))
    p.add(stroke("M452 526L452 372Q452 344 436 346Q422 350 424 366", INK, 8, cap="round"))
    p.title("The Kid", colour=INK)
    p.foot = (INK, INK)
    return p


def the_phantom_carriage():
    p = Poster(BLUE)
    p.add(p.clip(box_d(25, 25, 450, 446), stripes((25, 25, 450, 446), 9, lambda t: 4.5 * (1 - t), NIGHT, -32)))

    def wheel(cx, cy, r, colour, **more):
        spokes = "".join(f"M{n(cx)} {n(cy)}L{n(polar(cx, cy, r, a)[0])} {n(polar(cx, cy, r, a)[1])}"
                         for a in range(8, 368, 30))
        return group(ring(cx, cy, r - 11, colour, 22), stroke(spokes, colour, 9), circle(cx, cy, 30, colour), **more)

    cloak = smooth([(474, 470, 0), (474, 300), (448, 212), (410, 160), (392, 96), (348, 62, 0), (300, 92), (272, 150),
                    (270, 206), (236, 250), (206, 330), (190, 470, 0)])
    p.add(group(path(cloak, PAPER), opacity=0.16, transform="translate(-62 -6)"),
          group(path(cloak, PAPER), opacity=0.16, transform="translate(-32 -3)"))
    p.add(path(cloak, INK))
    p.add(path(smooth([(346, 84, 0), (312, 106), (288, 150), (292, 198), (322, 214), (352, 196), (366, 148)]), NIGHT),
          circle(314, 152, 5, PAPER), circle(340, 150, 5, PAPER))
    for k in range(5):
        p.add(stroke(f"M{380 - 24 * k} {230 + 6 * k}Q{396 - 30 * k} 350 {430 - 52 * k} 470", BLUE, 2.5, opacity=0.9))
    for dx, opacity in ((-44, 0.2), (-22, 0.4), (0, 1.0)):
        p.add(wheel(186 + dx, 330, 140, PAPER, opacity=opacity))
    p.add(circle(186, 330, 13, BLUE))
    # The scythe.
    p.add(stroke("M444 470L398 40", ORANGE, 11), stroke("M428 296L386 306", ORANGE, 10, cap="round"),
          path("M408 66L396 26Q220 6 74 108Q220 58 392 68Z", INK, opacity=0.35, transform="translate(6 12)"),
          path("M412 68L398 26Q220 6 74 108Q220 62 396 70Z", PAPER))
    p.add(path("M470 330L404 300L398 322L462 366Z", INK),
          *(stroke(f"M{420 - 1.5 * k:.1f} {298 + 10 * k}L{392 + 2 * k} {300 + 9 * k}", PAPER, 7, cap="round")
            for k in range(4)))
    p.title("The Phantom", "Carriage", colour=PAPER)
    return p


def laborers_love():
    p = Poster(ORANGE)
    # The staircase he means to alter.
    zigzag = "h50v-50" * 11
    p.add(p.clip(box_d(0, 0, 500, 606), *(stroke(f"M-25 {1150 - 75 * k}{zigzag}", PAPER, 13, opacity=0.3)
                                          for k in range(17))))
    cx, cy, r = 250, 340, 225

    def half(radius):
        return f"M{cx - radius} {cy}A{radius} {radius} 0 0 0 {cx + radius} {cy}Z"

    p.add(p.cut(half(r), GREEN, 0, 14))
    p.add(p.clip(half(r),
                 *(path(f"M{cx} {cy}L{n(polar(cx, cy, 240, a)[0])} {n(polar(cx, cy, 240, a)[1])}"
                        f"L{n(polar(cx, cy, 240, a + 7)[0])} {n(polar(cx, cy, 240, a + 7)[1])}Z", INK, opacity=0.5)
                   for a in range(2, 180, 15))))
    p.add(path(half(203), PAPER), path(half(188), RED))
    p.add(p.clip(half(188), halftone((60, 340, 380, 200), 12, lambda u, v: 5 * max(0.0, v - 0.3),
                                     overprint(PAPER, RED, 0.5))))
    for radius, count in ((150, 9), (104, 6), (58, 3)):
        for k in range(count):
            a = 180 * (k + 0.5) / count
            x, y = polar(cx, cy + 10, radius, a)
            p.add(placed(x, y, path("M0 -13C9 -2 8 9 0 10C-8 9 -9 -2 0 -13Z", INK), degrees=a + 90))
    # The saw he brought from his old trade.
    teeth = "M0 0" + "".join(f"L{12 + 20 * k} {-13}L{20 + 20 * k} 0" for k in range(16)) + "L320 -84L14 -38L0 -24Z"
    saw = (path(teeth, INK, opacity=0.32, transform="translate(14 6)") + path(teeth, overprint(INK, PAPER, 0.5))
           + path("M14 -38L320 -84L320 -72L14 -30Z", PAPER, opacity=0.6))
    handle = "M306 8L306 -94Q318 -122 356 -116L420 -100Q436 -92 426 -72L414 -22Q406 18 372 18L330 14Z"
    saw += path(handle,
                INK) + path("M344 -14L350 -76Q354 -92 370 -88L388 -84Q400 -80 396 -66L386 -28Q380 -10 364 -10Z", ORANGE)
    p.add(placed(122, 412, saw, degrees=-43))
    heart = "M0 26C-44 -4 -34 -36 -14 -36C-4 -36 0 -28 0 -24C0 -28 4 -36 14 -36C34 -36 44 -4 0 26Z"
    p.add(placed(116, 130, path(heart, INK, opacity=0.3, transform="translate(3 4)"), path(heart, RED), scale=2.1,
                 degrees=-12))
    p.title("Laborer's Love", colour=INK)
    p.foot = (INK, INK)
    return p


def nosferatu():
    p = Poster(GREEN)
    p.add(halftone((0, 0, 500, 580), 13,
                   lambda u, v: 9.4 * max(0.0, 1 - math.hypot((u - 0.6) * 1.2, (v - 0.36) * 1.2) * 1.45), YELLOW))
    count = smooth([(52, 575, 0), (52, 470), (34, 370), (38, 280), (70, 212), (116, 178), (158, 172), (182, 172),
                    (184, 156, 0), (148, 98, 0), (192, 112, 0), (206, 78), (240, 58), (276, 70), (292, 102),
                    (296, 120), (314, 140), (322, 164, 0), (300, 168, 0), (306, 178), (298, 188), (298, 206),
                    (280, 222), (262, 226, 0), (272, 250), (310, 256), (350, 244), (384, 222, 0), (404, 236),
                    (400, 258, 0), (356, 292), (316, 316), (292, 340), (292, 400), (306, 480), (322, 575, 0)])
    p.add(path(count, INK))
    for (bx, by), (kx, ky), (tx, ty) in [((388, 226), (392, 172), (420, 110)), ((396, 230), (424, 184), (466, 138)),
                                         ((402, 238), (442, 214), (482, 194)), ((402, 250), (444, 252), (480, 262)),
                                         ((396, 258), (414, 292), (424, 338))]:
        dx, dy = tx - bx, ty - by
        length = math.hypot(dx, dy)
        ox, oy = -dy / length * 9, dx / length * 9
        p.add(path(f"M{n(bx - ox)} {n(by - oy)}Q{n(kx - ox)} {n(ky - oy)} {tx} {ty}Q{n(kx + ox)} {n(ky + oy)}"
                   f" {n(bx + ox)} {n(by + oy)}Z", INK), circle(kx, ky, 8.5, INK))
    # The banister climbs with him.
    for k in range(12):
        top = 556 - 196 * (20 + 44 * k) / 500
        p.add(rect(14 + 44 * k, top, 12, 575 - top, NIGHT))
    p.add(path("M0 544L500 348L500 378L0 574Z", NIGHT), path("M0 544L500 348L500 355L0 551Z", YELLOW))
    p.title("Nosferatu", colour=PAPER)
    return p


def haxan():
    p = Poster(INK)
    broom = (stroke("M-118 44L112 -12", "FILL", 8, cap="round")
             + path("M-104 32L-186 26L-196 48L-190 74L-184 84L-98 50Z", "FILL"))
    witch = smooth([(-14, -44), (-60, -26), (-104, -22), (-150, -34, 0), (-120, -6), (-146, 8, 0), (-96, 18),
                    (-56, 30), (-8, 30), (24, 24), (34, 34, 0), (0, 34), (30, 4), (60, 6), (70, -4), (48, -10),
                    (30, -14), (22, -28)])
    head = (path("M-24 -66Q-2 -100 -40 -142Q24 -132 40 -66Z", "FILL")
            + path("M-56 -64Q8 -92 74 -54Q8 -72 -56 -64Z", "FILL"))
    face = path("M-10 -66L30 -62L52 -40L30 -38L36 -24L10 -22Q-10 -40 -10 -66Z", "FILL")

    leg = limb([(16, 26, 13), (52, 48, 9), (34, 78, 6)], "FILL") + path("M28 74L42 74L50 82L72 86Q74 94 62 94L26 92Z",
            "FILL")
    eye = path("M16 -56L32 -54L18 -50Z", INK)

    def rider(x, y, size, colour):
        drawn = (broom + leg + path(witch, "FILL") + face + head).replace("FILL", colour)
        return placed(x, y, drawn, eye, scale=size, degrees=-17)

    p.add(circle(325, 176, 150, RED))
    p.add(p.clip(disc_d(325, 176, 150), halftone((165, 20, 320, 320), 11, lambda u, v: 6.2 * max(0.0, v - 0.25), INK)))
    flames = smooth([(25, 470, 0), (25, 422), (48, 372, 0), (66, 412), (92, 342, 0), (112, 402), (134, 422),
                     (156, 364, 0), (176, 416), (208, 322, 0), (232, 406), (258, 428), (286, 358, 0), (302, 412),
                     (330, 432), (352, 380, 0), (374, 422), (398, 344, 0), (422, 412), (444, 430), (462, 382, 0),
                     (475, 422), (475, 470, 0)])
    p.add(p.clip(box_d(25, 25, 450, 445), path(flames, ORANGE)))
    inner = smooth([(25, 470, 0), (50, 426, 0), (72, 448), (92, 406, 0), (120, 452), (156, 422, 0), (180, 450),
                    (208, 392, 0), (236, 450), (284, 418, 0), (306, 452), (352, 428, 0), (376, 450), (398, 408, 0),
                    (426, 452), (460, 430, 0), (475, 470, 0)])
    p.add(p.clip(box_d(25, 25, 450, 445), path(inner, RED)))
    p.add(rider(104, 92, 0.42, ORANGE), rider(404, 340, 0.36, ORANGE), rider(250, 222, 1.15, PAPER))
    p.title("Häxan", colour=PAPER)
    return p


def safety_last():
    p = Poster(YELLOW)
    shade = overprint(RED, YELLOW, 0.3)
    for row in range(8):
        for k in range(9):
            p.add(rect(25 + 52 * k, 25 + 72 * row, 34, 50, shade))
    cx, cy, r = 236, 224, 199
    p.add(p.cut(disc_d(cx, cy, r), INK, 10, 12))
    p.add(circle(cx, cy, r - 16, PAPER), ring(cx, cy, r - 28, INK, 3))
    p.add(p.clip(disc_d(cx, cy, r - 16), halftone((52, 40, 368, 368), 11,
                                                  lambda u, v: 4.6 * max(0.0, v - u * 0.4 - 0.25),
                                                  overprint(INK, PAPER, 0.35))))
    for k in range(12):
        long = k % 3 == 0
        p.add(placed(cx, cy, rect(-9 if long else -5, -(r - 38), 18 if long else 10, 44 if long else 30, INK),
                     degrees=30 * k))
    p.add(placed(cx, cy, path("M-13 24L-7 -104L0 -122L7 -104L13 24Z", INK), degrees=76))
    p.add(stroke(f"M{cx - 26} {cy - 26}L358 346", INK, 15), path("M344 362L374 332L386 374Z", INK),
          circle(cx, cy, 20, INK), circle(cx, cy, 7, RED))
    # The climber, holding on to the minute hand.
    suit = [limb([(352, 452, 16), (336, 404, 12), (350, 356, 9)], NIGHT),
            limb([(410, 452, 16), (430, 410, 12), (404, 362, 9)], NIGHT),
            path("M340 440Q380 424 422 440L414 518L352 518Z", NIGHT),
            limb([(366, 512, 18), (330, 534, 13), (340, 578, 9)], NIGHT),
            limb([(398, 512, 18), (432, 528, 13), (458, 562, 9)], NIGHT)]
    shoes = [placed(336, 584, ellipse(-8, 0, 22, 9, INK), degrees=-10), placed(464, 568, ellipse(8, 0, 22, 9, INK),
                 degrees=35)]
    lloyd = [group(*suit, *shoes, opacity=0.3, transform="translate(10 6)"), *suit, *shoes]
    lloyd += [path("M362 436L400 436L381 480Z", PAPER), path("M377 440L386 440L389 466L381 476L374 466Z", RED),
              limb([(351, 356, 10), (356, 345, 11)], PAPER), limb([(402, 362, 10), (394, 351, 11)], PAPER),
              ellipse(381, 414, 25, 30, PAPER), ring(371, 412, 10, INK, 3.5), ring(392, 412, 10, INK, 3.5),
              circle(371, 410, 3, INK), circle(392, 410, 3, INK), ellipse(382, 433, 7, 5, INK),
              placed(379, 394, path("M-27 -2L-25 -30L25 -30L27 -2Z", PAPER), rect(-26, -16, 52, 11, RED),
                     rect(-44, -5, 88, 10, PAPER), degrees=-9)]
    p.add(group(*lloyd, transform="translate(-16 0)"))
    p.title("Safety Last!", colour=INK)
    p.foot = (INK, INK)
    return p
