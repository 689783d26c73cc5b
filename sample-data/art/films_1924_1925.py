"""The posters of the films of 1924 and 1925."""

from kit import *


def sherlock_jr():
    p = Poster(TEAL)
    arm = "M46 -214Q104 -196 92 -80L66 -76Q64 -120 50 -150Z"
    man = (path("M-60 0L-54 -150Q-64 -120 -66 -76L-92 -80Q-104 -196 -46 -214L46 -214Q64 -208 54 -150L60 0L8 0L0 -96"
                "L-8 0Z", INK) + path("M-18 -224L18 -224L26 -207L0 -198L-26 -207Z", PAPER)
           + path("M-36 -252Q-34 -296 0 -298Q34 -296 36 -252Q30 -219 0 -217Q-30 -219 -36 -252Z", INK)
           + ellipse(-38, -252, 7, 12, PAPER) + ellipse(38, -252, 7, 12, PAPER)
           + path("M-44 -290L-38 -324Q0 -330 38 -324L44 -290Z", INK) + rect(-42, -304, 84, 13, RED)
           + path("M-70 -284Q0 -306 70 -284Q60 -272 0 -277Q-60 -272 -70 -284Z", INK))
    grounds = [YELLOW, RED, PAPER, TEAL, YELLOW, RED]
    x, y, inner = 146, 62, 0.6

    def scene(level):
        content = [rect(0, 0, 450, 565, grounds[level])]
        content += [rect(0, 440 + 14 * k, 450, 3 + k * 0.7, INK, opacity=0.45) for k in range(9)]
        if level < len(grounds) - 1:
            content.append(rect(x - 9, y - 9, 450 * inner + 18, 565 * inner + 18, INK))
            content.append(placed(x, y, scene(level + 1), scale=inner))
        content.append(path("M40 565L150 470L214 470L170 565Z", INK, opacity=0.35))
        content.append(placed(88, 562, man, path(arm, INK) if level else "", scale=0.98))
        return "".join(content)

    p.add(p.clip(box_d(25, 25, 450, 565), placed(25, 25, scene(0))))
    # He looks for himself where the screens vanish.
    gx, gy = 25 + x / (1 - inner), 25 + y / (1 - inner)
    p.add(limb([(154, 396, 22), (226, 432, 17), (278, 352, 13)], INK), circle(281, 346, 16, PAPER),
          stroke(f"M274 360L{n(gx - 44)} {n(gy + 64)}", INK, 15, cap="round"),
          circle(gx, gy, 78, PAPER, opacity=0.22), ring(gx, gy, 78, INK, 16), ring(gx, gy, 78, RED, 5),
          stroke(f"M{n(gx - 54)} {n(gy - 20)}Q{n(gx - 42)} {n(gy - 50)} {n(gx - 10)} {n(gy - 56)}", PAPER, 7,
                 cap="round"))
    p.title("Sherlock Jr.", colour=PAPER)
    return p


def the_thief_of_bagdad():
    p = Poster(VIOLET)
    dusk = overprint(INK, VIOLET, 0.6)
    p.add(halftone((0, 0, 500, 320), 15, lambda u, v: 5 * max(0.0, 0.8 - v), dusk))
    for x, y, r in [(60, 60, 3), (110, 120, 2), (180, 44, 2.4), (44, 190, 2), (448, 60, 2), (466, 250, 2.5),
                    (226, 116, 1.8)]:
        p.add(path(f"M{x} {y - 3 * r}L{x + r * 0.7} {y - r * 0.7}L{x + 3 * r} {y}L{x + r * 0.7} {y + r * 0.7}L{x}"
                   f" {y + 3 * r}L{x - r * 0.7} {y + r * 0.7}L{x - 3 * r} {y}L{x - r * 0.7} {y - r * 0.7}Z", PAPER))
    p.add(path("M372 34A120 120 0 1 0 446 216A98 98 0 1 1 372 34Z", YELLOW))

    def dome(x, y, w, colour, window):
        h = w * 1.15
        return (path(f"M{x} {y - h * 1.5}L{x + w * 0.04} {y - h * 1.12}C{x + w * 0.1} {y - h * 0.8} {x + w * 0.62}"
                     f" {y - h * 0.66} {x + w * 0.56} {y - h * 0.3}Q{x + w * 0.52} {y - h * 0.1} {x + w * 0.4} {y}"
                     f"L{x - w * 0.4} {y}Q{x - w * 0.52} {y - h * 0.1} {x - w * 0.56} {y - h * 0.3}C{x - w * 0.62}"
                     f" {y - h * 0.66} {x - w * 0.1} {y - h * 0.8} {x - w * 0.04} {y - h * 1.12}Z", colour)
                + rect(x - w * 0.44, y, w * 0.88, 460 - y, colour) + rect(x - w * 0.5, y, w, 8, window)
                + path(f"M{x - w * 0.14} {y + w * 0.8}L{x - w * 0.14} {y + w * 0.42}Q{x - w * 0.12} {y + w * 0.28}"
                       f" {x} {y + w * 0.18}Q{x + w * 0.12} {y + w * 0.28} {x + w * 0.14} {y + w * 0.42}"
                       f"L{x + w * 0.14} {y + w * 0.8}Z", window))

    city = box_d(25, 0, 450, 452)
    p.add(p.clip(city, dome(60, 380, 70, dusk, YELLOW), dome(440, 360, 80, dusk, YELLOW),
                 dome(156, 410, 80, dusk, YELLOW), dome(344, 414, 84, dusk, YELLOW), dome(250, 392, 120, INK, YELLOW)))
    carpet = "M40 330Q120 236 214 268Q300 300 352 240Q396 196 462 198Q432 256 378 300Q316 350 226 318Q140 292 40 330Z"
    p.add(p.shadow(carpet, 8, 22, 0.4), path(carpet, RED))
    p.add(p.clip(carpet, stroke("M60 330Q140 258 218 284Q306 314 366 256Q404 218 462 212", YELLOW, 5),
                 stroke("M60 312Q132 246 216 272Q302 302 356 246Q398 206 462 204", PAPER, 2.5),
                 stroke("M46 336Q140 276 224 302Q314 334 374 284Q420 244 452 222", PAPER, 6, stroke_dasharray="9 9")))
    for k in range(6):
        p.add(stroke(f"M{44 + 9 * k} {327 - 6.5 * k}l-16 {10 - k}", YELLOW, 3),
              stroke(f"M{460 - 6 * k} {200 + 9 * k}l16 -3", YELLOW, 3))
    # The thief and the princess.
    p.add(path("M196 276L206 214Q206 190 226 188Q246 190 250 212L286 176L296 188L254 240L264 284Q230 280 196 276Z",
               INK), circle(228, 170, 17, PAPER), path("M206 166Q206 140 230 142Q254 144 250 166Q230 156 206 166Z",
                                                       YELLOW), circle(232, 140, 6, RED), circle(292, 181, 8, PAPER))
    p.add(path("M138 268Q136 226 160 214Q184 222 192 276Q162 262 138 268Z", PAPER), circle(162, 204, 15, PAPER),
          path("M144 210Q140 178 164 182Q190 186 186 232Q200 262 186 268Q170 240 176 202Q160 192 144 210Z", RED))
    p.title("The Thief", "of Bagdad", colour=PAPER)
    return p


def aelita():
    p = Poster(RED)
    for k in range(6):
        p.add(ring(475, 25, 50 + 36 * k, INK if k % 2 else PAPER, 13))
    p.add(circle(475, 25, 26, YELLOW))
    p.add(rect(0, 0, 500, 25, RED), rect(475, 0, 25, 560, RED))
    hub = (204, 218)
    for k in range(11):
        a = 128 + 17.5 * k
        length = 150 if k % 2 else 186
        x, y = polar(*hub, length, a)
        p.add(stroke(f"M{hub[0]} {hub[1]}L{n(x)} {n(y)}", INK, 7), circle(x, y, 13, INK),
              circle(x, y, 6.5, YELLOW if k % 2 else PAPER))
    p.add(ring(*hub, 118, INK, 5))
    face = smooth([(250, 118), (286, 148), (294, 182), (290, 200, 0), (330, 250, 0), (304, 262, 0), (316, 280),
                   (300, 290, 0), (312, 304), (298, 318), (304, 340), (284, 360), (252, 362, 0), (244, 400),
                   (262, 430), (352, 460), (392, 512, 0), (40, 512, 0), (70, 468), (150, 440), (160, 400), (140, 300),
                   (150, 160)])
    p.add(p.clip(box_d(0, 0, 500, 512), p.shadow(face, 9, 9, 0.4)), path(face, PAPER))
    p.add(p.clip(face, stripes((20, 360, 400, 160), 10, lambda t: 1 + 6 * t, INK)))
    cap = "M290 152Q262 96 196 104Q112 118 108 214Q108 290 152 318L166 268Q210 262 222 218Q246 190 294 186Z"
    p.add(path(cap, INK), stroke("M130 150Q190 130 280 150M118 196Q170 176 250 186M120 240Q150 228 190 232", RED, 6))
    p.add(circle(204, 250, 34, INK), circle(204, 250, 22, YELLOW), circle(204, 250, 9, INK))
    p.add(path("M250 214Q268 200 288 208Q284 222 250 214Z", INK), stroke("M244 200Q264 184 290 190", INK, 5),
          path("M288 284L314 280L300 290L312 302L288 300Z", RED))
    p.add(placed(250, 500, path("M-225 12L-225 -26L60 12Z", YELLOW), path("M225 12L225 -84L120 12Z", INK)))
    p.title("Aelita", colour=PAPER)
    return p


def greed():
    p = Poster(INK)
    for row in range(13):
        for k in range(13):
            x, y = 38 + 35.3 * k, 52 + 35.3 * row
            p.add(ring(x, y, 13, ORANGE, 2.5, opacity=0.42), rect(x - 1.5, y - 6, 3, 12, ORANGE, opacity=0.42))
    p.add(rect(25, 25, 450, 14, PAPER), path("M70 39L150 39L70 110Z", PAPER), path("M84 45L128 45L84 84Z", INK))
    for k in range(4):
        p.add(tag("ellipse", cx=250, cy=48 + 17 * k, rx=6 if k % 2 else 9, ry=12, fill="none", stroke=PAPER,
                  stroke_width=5))
    tooth = smooth([(250, 126), (318, 104), (388, 124), (416, 186), (402, 256), (374, 312), (362, 380), (344, 446),
                    (316, 462), (298, 430), (290, 372), (250, 338), (210, 372), (202, 430), (184, 462), (156, 446),
                    (138, 380), (126, 312), (98, 256), (84, 186), (112, 124), (182, 104)])
    p.add(path(tooth, ORANGE, transform="translate(12 12)"), path(tooth, YELLOW))
    p.add(p.clip(tooth, halftone((80, 90, 340, 390), 12, lambda u, v: 7 * max(0.0, 0.8 * u + 0.7 * v - 0.62), ORANGE)))
    p.add(stroke("M124 214Q104 160 142 140", PAPER, 13, cap="round"), circle(134, 244, 7, PAPER),
          stroke("M196 148Q250 178 304 148", ORANGE, 9, cap="round"))
    p.add(rect(204, 216, 92, 20, INK), rect(198, 210, 104, 32, "none", stroke=ORANGE, stroke_width=5))
    p.add(p.clip(box_d(0, 60, 500, 168), circle(250, 196, 44, ORANGE), circle(250, 196, 38, PAPER),
                 circle(250, 196, 30, YELLOW), path("M256 176L244 176L234 184L244 184L244 230L256 230Z", INK)))

    def stack(x, count):
        out = ""
        for k in range(count):
            y = 486 - 13 * k
            dx = (-3, 2, 4, -2, 0, 3)[k % 6]
            out += (path(f"M{x - 44 + dx} {y}v-9a44 12 0 0 1 88 0v9a44 12 0 0 1 -88 0Z", ORANGE)
                    + ellipse(x + dx, y - 9, 44, 12, YELLOW) + tag("ellipse", cx=x + dx, cy=y - 9, rx=30, ry=7,
                        fill="none", stroke=ORANGE, stroke_width=3))
        return out

    p.add(stack(250, 5), stack(70, 4), stack(430, 6), stack(158, 1), stack(342, 2))
    p.title("Greed", colour=YELLOW)
    p.foot = (YELLOW, YELLOW)
    return p


def the_last_laugh():
    p = Poster(ROSE)
    for a, b in [(25, 130), (150, 350), (370, 475)]:
        p.add(p.clip(box_d(a, 25, b - a, 575), stripes((a, 25, b - a, 575), 10, 5, overprint(NIGHT, ROSE, 0.22), -55)))
    sleeves = "M146 226Q70 244 56 330L38 566L128 574L168 350ZM354 226Q430 244 444 330L462 566L372 574L332 350Z"
    p.add(p.cut(sleeves, NIGHT))
    coat = "M204 190Q150 214 128 232L140 400L108 600L392 600L360 400L372 232Q350 214 296 190Z"
    p.add(p.cut(coat, NIGHT, 7, 0))
    p.add(stroke("M160 300L140 400L128 480M340 300L360 400L372 480", INK, 3))
    p.add(path("M206 192L250 236L294 192L282 172L218 172Z", INK), path("M204 190L218 162L250 236L222 268L176 212Z",
              ROSE), path("M296 190L282 162L250 236L278 268L324 212Z", ROSE), stroke("M250 236L250 600", INK, 4))
    for row in range(5):
        y = 300 + 56 * row
        w = 58 - (6 if row in (1, 2) else 0) + (4 if row > 2 else 0)
        p.add(stroke(f"M{250 - w} {y}H{250 + w}", YELLOW, 9),
              stroke(f"M{250 - w} {y}q-16 -13 -24 0q8 13 24 0M{250 + w} {y}q16 -13 24 0q-8 13 -24 0", YELLOW, 5),
              circle(250 - w, y, 12, INK), circle(250 - w, y, 8, YELLOW), circle(250 + w, y, 12, INK),
              circle(250 + w, y, 8, YELLOW))
    for side in (-1, 1):
        p.add(placed(250, 0, path("M96 220Q150 216 176 254L196 296Q160 262 100 256Z", YELLOW),
                     *(stroke(f"M{118 + 15 * k} {256 + 7 * k}L{116 + 16 * k} {284 + 9 * k}", YELLOW, 6, cap="round")
                       for k in range(6)), path("M121 512L208 505L210 524L121 532Z", YELLOW),
                     path("M121 540L210 533L210 542L121 549Z", YELLOW), scale=(side, 1)))
    p.add(ellipse(250, 170, 31, 9, ROSE))
    # The cap keeps its place without him.
    cap = "M134 86Q140 38 250 34Q360 38 366 86Q356 108 326 112L174 112Q144 108 134 86Z"
    p.add(p.cut(cap, NIGHT), path("M172 104L328 104L326 132L174 132Z", ROSE), stroke("M173 110H327M174 126H326",
              YELLOW, 4), path("M164 132L336 132Q346 158 250 160Q154 158 164 132Z", INK), circle(250, 84, 17, YELLOW),
          circle(250, 84, 9, NIGHT))
    p.title("The Last Laugh", colour=INK)
    p.foot = (INK, INK)
    return p


def the_gold_rush():
    p = Poster(GREEN)
    p.add(path("M170 0L330 0L500 560L500 598L0 598L0 560Z", PAPER, opacity=0.22))
    p.add(halftone((0, 0, 500, 470), 22, lambda u, v: 3.4, PAPER, 31, opacity=0.8))
    p.add(ellipse(250, 548, 225, 44, PAPER), p.clip("M25 548A225 44 0 1 1 475 548A225 44 0 1 1 25 548Z",
                                                    stripes((25, 500, 450, 100), 14, 6, overprint(RED, PAPER, 0.6))))

    def leg(x, degrees, foot):
        fork = ("M-10 -6L-13 -176Q-16 -214 0 -216Q16 -214 13 -176L10 -6Q12 14 30 22L34 96L24 96L22 40L17 40L17 100L7"
                " 100L7 40L-7 40L-7 100L-17 100L-17 40L-22 40L-24 96L-34 96L-30 22Q-12 14 -10 -6Z")
        roll = "M-66 30Q-70 -26 -6 -32Q66 -38 92 6Q104 34 70 40L-46 40Q-64 40 -66 30Z"
        cuts = "".join(stroke(f"M{-34 + 30 * k} {-20 - 3 * (k == 1)}q12 12 10 30", PAPER, 5, cap="round")
                       for k in range(3))
        return placed(x, 390, path(fork, INK, opacity=0.3, transform="translate(8 6)"), path(fork, PAPER),
                      path("M3 -6L4 -176Q4 -204 0 -216Q16 -214 13 -176L10 -6Q12 14 30 22L34 96L24 96L22 40L17 40L8"
                           " 10Z", overprint(INK, PAPER, 0.42)),
                      placed(0, 112, path(roll, INK, opacity=0.35, transform="translate(7 9)"), path(roll, ORANGE),
                             cuts, scale=(foot, 1)), degrees=degrees)

    p.add(leg(330, -17, 1), leg(170, 17, -1))
    p.add(path("M250 246L206 222L206 270ZM250 246L294 222L294 270Z", RED), circle(250, 246, 12, INK))
    p.add(path("M204 196Q226 166 250 182Q274 166 296 196Q300 206 284 204L216 204Q200 206 204 196Z", INK))
    crown = "M158 132Q150 26 250 25Q350 26 342 132Z"
    brim = "M96 122Q100 106 124 116Q250 154 376 116Q400 106 404 122Q392 162 250 166Q108 162 96 122Z"
    p.add(p.shadow(crown + brim, 8, 10, 0.35), path(crown, INK),
          path("M156 108Q250 138 344 108L343 134Q250 160 157 134Z", RED), path(brim, INK))
    p.title("The Gold Rush", colour=PAPER)
    return p


def the_phantom_of_the_opera():
    p = Poster(NIGHT)
    bone = overprint(INK, PAPER, 0.42)
    for k in range(13):
        d = abs(k - 6)
        top = 25 + d * d * 3.4
        x = 25 + 450 * k / 13
        w = 450 / 13 - 4
        p.add(path(f"M{n(x)} 503L{n(x)} {n(top + w / 2)}A{n(w / 2)} {n(w / 2)} 0 0 1 {n(x + w)} {n(top + w / 2)}"
                   f"L{n(x + w)} 503Z", YELLOW), rect(x + w * 0.62, top + w / 2, w * 0.38, 503 - top - w / 2,
                                                      overprint(RED, YELLOW, 0.45)),
              path(f"M{n(x + 6)} {n(400)}L{n(x + w - 6)} 400L{n(x + w / 2)} 372Z", INK))
    cloak = "M25 503Q40 440 128 420L372 420Q460 440 475 503Z"
    p.add(p.cut(cloak, RED, 0, -8, 0.35))
    hood = smooth([(250, 92), (356, 132), (398, 250), (380, 380), (350, 470), (250, 503), (150, 470), (120, 380),
                   (102, 250), (144, 132)])
    p.add(p.cut(hood, INK, 8, 8, 0.4))
    left = "M250 136Q160 138 148 246Q144 300 164 352L250 352Z"
    skull = ("M250 136Q340 138 352 246Q354 300 336 330L330 366Q322 382 312 384L308 436Q300 460 250 462L250 352Z")
    chin = "M164 352L250 352L250 462Q190 458 178 410Z"
    p.add(path(chin, overprint(RED, PAPER, 0.4)), path(left, PAPER),
          p.clip(left, halftone((140, 130, 110, 230), 9, lambda u, v: 4.6 * max(0.0, 0.9 - u * 1.5), bone)))
    p.add(path(skull, bone), path("M258 260Q262 220 300 222Q338 228 332 268Q324 304 292 302Q260 298 258 260Z", INK),
          circle(295, 262, 8, RED), path("M250 300L250 350L274 350Q274 322 250 300Z", INK))
    p.add(path("M176 262Q206 226 238 262Q206 286 176 262Z", INK), circle(208, 260, 8, YELLOW),
          stroke("M168 228Q206 196 242 224", INK, 5, cap="round"), path("M250 290L228 346L250 350Z", bone,
              opacity=0.6), path("M250 404Q222 396 196 404Q220 424 250 420Z", RED))
    p.add(rect(250, 388, 56, 44, INK), *(rect(252 + 11 * k, 390, 9, 19, PAPER) for k in range(5)),
          *(rect(252 + 11 * k, 412, 9, 18, PAPER) for k in range(5)))
    p.add(stroke("M250 136L250 462", INK, 4))
    p.title("The Phantom", "of the Opera", colour=PAPER)
    return p


def battleship_potemkin():
    p = Poster(PAPER)
    p.add(p.clip(disc_d(330, 170, 145), halftone((185, 25, 290, 290), 11, lambda u, v: 1.5 + 2.6 * (1 - v), RED)))
    steps = [(25, 461), (25, 206)]
    x, y = 25, 206
    while y < 440:
        steps += [(x + 50, y), (x + 50, y + 28)]
        x, y = x + 50, y + 28
    steps += [(475, 461)]
    steps = [(min(x, 475), y) for x, y in steps]
    p.add(polygon(steps, INK))
    for k in range(9):
        p.add(rect(25, 206 + 28 * k, 50 + 50 * k, 4, PAPER))
        p.add(rect(25, 216 + 28 * k, 46 + 50 * k, 2, PAPER, opacity=0.45))
    # The line of rifles.
    for k in range(5):
        p.add(placed(44 + 22 * k, 196 - 30 * k,
                     path("M-120 -7L60 -7L60 -3L150 -2L176 2L150 5L60 5L60 9L-20 10L-120 24Z", INK), degrees=26))
    p.add(rect(0, 0, 25, 470, PAPER), rect(0, 0, 500, 25, PAPER))
    pram = "M-92 -70L92 -70Q92 22 0 26Q-92 22 -92 -70Z"
    hood = "M-92 -70A92 92 0 0 1 0 -162L0 -70Z"
    p.add(placed(298, 254, path(pram + hood, INK, opacity=0.35, transform="translate(10 10)"), path(pram, PAPER),
                 path(hood, PAPER), path("M-84 -70A84 84 0 0 1 -8 -154L-8 -70Z", RED),
                 path("M-84 -62L84 -62Q82 16 0 18Q-82 16 -84 -62Z", RED),
                 *(stroke(f"M-8 -70L{n(polar(-8, -70, 82, a)[0])} {n(polar(-8, -70, 82, a)[1])}", PAPER, 4)
                   for a in (202, 225, 248)), stroke("M84 -66L118 -98", INK, 8, cap="round"),
                 *(circle(x, 42, 34, PAPER) + ring(x, 42, 29, INK, 8) + circle(x, 42, 7, INK)
                   + stroke("".join(f"M{x} 42L{n(polar(x, 42, 28, a)[0])} {n(polar(x, 42, 28, a)[1])}"
                                    for a in range(20, 380, 45)), INK, 3) for x in (-54, 54)), scale=1.1, degrees=29))
    p.title("Battleship", "Potemkin", colour=INK)
    p.foot = (INK, INK)
    return p
