"""The posters of the films of 1902 to 1920."""

import math

from kit import *


def a_trip_to_the_moon():
    p = Poster(NIGHT)
    shade = overprint(RED, YELLOW, 0.42)
    cx, cy, r = 250, 228, 202
    for x, y, size in [(40, 60, 2.5), (88, 34, 1.6), (34, 150, 1.6), (58, 372, 2.4), (110, 418, 1.6), (30, 300, 1.4),
                       (462, 250, 2), (438, 372, 2.6), (390, 420, 1.5), (470, 330, 1.4), (250, 12, 1.4),
                       (478, 160, 1.6)]:
        p.add(circle(x, y, size, PAPER))
    moon = disc_d(cx, cy, r)
    p.add(path(moon, YELLOW))
    p.add(p.clip(moon,
                 halftone((cx - r, cy - r, 2 * r, 2 * r), 11,
                          lambda u, v: 6.2 * max(0.0, math.hypot(u - 0.66, v - 0.3) - 0.36) / 0.5, shade),
                 circle(130, 338, 34, shade), circle(124, 331, 30, YELLOW),
                 circle(212, 62, 24, shade), circle(207, 57, 21, YELLOW),
                 circle(86, 222, 18, shade), circle(82, 218, 15.5, YELLOW)))
    # The face: one eye still open, in dismay at the other.
    p.add(path("M118 176Q160 136 208 172Q166 208 118 176Z", PAPER), circle(170, 172, 16, INK),
          stroke("M104 150Q152 104 214 140", INK, 13, cap="round"),
          path("M236 178Q228 238 206 262Q214 284 246 276Q268 270 262 246Z", shade),
          path("M160 338Q236 292 326 336Q300 384 240 384Q184 382 160 338Z", INK),
          path("M196 362Q240 334 292 360Q268 384 240 384Q212 383 196 362Z", RED))
    shell = "M-34 0C-14 -38 14 -54 52 -54L176 -54L176 54L52 54C14 54 -14 38 -34 0Z"
    p.add(p.clip(moon, placed(318, 208, path(shell, INK, opacity=0.35), degrees=-42)), ellipse(322, 190, 62, 52, INK))
    p.add(placed(322, 192, path(shell, RED),
                 path("M-34 0C-14 38 14 54 52 54L176 54L176 18L52 18C14 18 -14 10 -34 0Z", INK, opacity=0.3),
                 rect(58, -54, 12, 108, PAPER), rect(132, -54, 8, 108, PAPER),
                 ellipse(176, 0, 20, 54, INK), ellipse(178, 0, 12, 37, RED), degrees=-42))
    p.add(path("M250 180Q272 272 352 256Q394 246 398 202Q372 232 340 230Q288 228 250 180Z", YELLOW),
          path("M322 246C314 286 300 296 300 314A17 17 0 0 0 334 314C334 296 328 282 336 250Z", PAPER))
    p.title("A Trip to", "the Moon", colour=PAPER)
    return p


def the_great_train_robbery():
    p = Poster(ORANGE)
    p.add(halftone((0, 0, 500, 430), 13, lambda u, v: 6.4 * max(0.0, 0.85 - v), RED, opacity=0.6))
    coat = "M25 482L25 420Q60 366 160 342L340 342Q440 366 475 420L475 482Z"
    p.add(p.cut(coat, INK, 0, -8))
    face = "M146 160L354 160L350 262Q330 330 250 340Q170 330 150 262Z"
    p.add(path(face, PAPER), p.clip(face, rect(140, 150, 220, 52, INK, opacity=0.85)))
    for side in (-1, 1):
        p.add(placed(250, 222, path("M34 4Q62 -18 92 0Q64 18 34 4Z", INK), circle(62, 1, 5, PAPER),
                     stroke("M28 -14L98 -10", INK, 9), scale=(side, 1)))
    bandana = "M136 262Q250 226 364 262L350 372L250 470L150 372Z"
    p.add(p.cut(bandana, RED))
    spots = [(x + (22 if row % 2 else 0), 262 + row * 27) for row in range(9) for x in range(128, 380, 44)]
    p.add(p.clip(bandana, *(circle(x, y, 5.5, PAPER) for x, y in spots)))
    crown = "M158 150L168 52Q176 24 214 30Q250 48 286 30Q324 24 332 52L342 150Z"
    brim = "M25 128Q70 150 158 138L342 138Q430 150 475 128Q448 194 342 190Q250 184 158 190Q52 194 25 128Z"
    p.add(p.cut(brim, INK), path(crown, INK), path("M161 122L339 122L342 148L158 148Z", ORANGE))
    # The gun, from in front.
    gun = "M214 300Q214 262 250 262Q286 262 286 300L306 330Q322 362 306 394L284 420L216 420L194 394Q178 362 194 330Z"
    p.add(p.shadow(gun, 10, 12, 0.4), path(gun, INK), rect(244, 246, 12, 20, INK), circle(250, 362, 54, GREY),
          ring(250, 362, 54, INK, 3))
    for k in range(6):
        x, y = polar(250, 362, 34, 30 + 60 * k)
        p.add(circle(x, y, 11, INK))
    p.add(circle(250, 306, 37, GREY), ring(250, 306, 37, INK, 3), circle(250, 306, 22, INK),
          stroke("M224 290A30 30 0 0 1 250 276", PAPER, 4, cap="round"))
    p.title("The Great", "Train Robbery", colour=INK)
    p.foot = (INK, INK)
    return p


def gertie_the_dinosaur():
    p = Poster(PAPER)
    p.add(circle(150, 140, 92, YELLOW))
    p.add(stripes((25, 336, 450, 74), 12, lambda t: 8 - 6 * t, GREEN))
    gertie = smooth([(26, 398, 0), (70, 386), (112, 346), (132, 292), (176, 252), (236, 246), (282, 232), (310, 186),
                     (322, 120), (344, 60), (396, 32), (446, 50), (474, 82), (466, 106), (428, 110), (398, 102),
                     (378, 128), (370, 190), (352, 262), (330, 318), (322, 362), (326, 424, 0), (268, 424, 0),
                     (266, 384, 0), (246, 370), (206, 374), (186, 388, 0), (184, 424, 0), (122, 424, 0),
                     (118, 396, 0), (84, 412)])
    p.add(p.clip(box_d(0, 0, 500, 424), p.shadow(gertie, 9, 10)), path(gertie, GREEN))
    p.add(p.clip(gertie, halftone((20, 20, 470, 420), 12,
                                  lambda u, v: 5.4 * max(0.0, 1.1 * v - 0.55 * u - 0.1), INK, opacity=0.75)))
    p.add(circle(420, 66, 9, PAPER), circle(423, 67, 5, INK), stroke("M428 96Q450 100 466 90", INK, 4, cap="round"),
          circle(459, 74, 2.4, INK))
    # The man who drew her, with his whip.
    p.add(placed(420, 424, path("M-16 0L-14 -44Q-18 -70 0 -72Q18 -70 14 -44L16 0L4 0L0 -34L-4 0Z", INK),
                 circle(0, -84, 11, INK), stroke("M12 -62L30 -92", INK, 6, cap="round"),
                 stroke("M30 -92Q44 -150 10 -160Q-14 -166 -18 -150", INK, 3, cap="round")))
    p.add(rect(25, 422, 450, 4, INK))
    p.title("Gertie the", "Dinosaur", colour=INK)
    p.foot = (INK, INK)
    return p


def cabiria():
    p = Poster(RED)
    cx = 250
    p.add(rays(cx, 330, 60, 520, 44, INK, 0.42, 150, 390, opacity=0.22))
    idol = ("M96 528L96 300Q96 226 62 170Q28 110 40 34Q74 96 136 122Q180 92 250 90Q320 92 364 122"
            "Q426 96 460 34Q472 110 438 170Q404 226 404 300L404 528Z")
    p.add(p.cut(idol, INK, 9, 9, 0.35))
    for x, y, r in [(184, 196, 34), (316, 196, 34), (250, 138, 22)]:
        p.add(circle(x, y, r, ORANGE), circle(x, y, r * 0.68, YELLOW), circle(x, y, r * 0.3, INK))
    p.add(path("M236 222L264 222L274 262L226 262Z", RED))
    mouth = "M124 528L124 400A126 126 0 0 1 376 400L376 528Z"
    p.add(path(mouth, RED))
    p.add(p.clip(mouth,
                 *(path(f"M{cx - w} 540L{cx - w} {400 + lift}A{w} {w} 0 0 1 {cx + w} {400 + lift}L{cx + w} 540Z", c)
                   for w, lift, c in [(104, 6, ORANGE), (82, 16, YELLOW), (56, 30, PAPER)])))
    for k in range(7):
        a = 180 + 180 * (k + 0.5) / 7
        left, right, tip = polar(cx, 400, 132, a - 13), polar(cx, 400, 132, a + 13), polar(cx, 400, 86, a)
        p.add(polygon([left, tip, right], INK))
    for k in range(5):
        p.add(rect(160 - 9 * k, 468 + 12 * k, 180 + 18 * k, 12, INK if k % 2 == 0 else ORANGE))
    p.add(placed(250, 470, path("M-9 0L-6 -26Q0 -34 6 -26L9 0Z", INK), circle(0, -38, 7, INK),
                 stroke("M-6 -24L-20 -42M6 -24L20 -42", INK, 5, cap="round")))
    p.title("Cabiria", colour=PAPER)
    return p


def les_vampires():
    p = Poster(VIOLET)
    p.add(circle(250, 214, 190, YELLOW))
    p.add(p.clip(disc_d(250, 214, 190),
                 halftone((60, 24, 380, 380), 12, lambda u, v: 6.4 * max(0.0, v - 0.35), overprint(RED, YELLOW, 0.4))))
    wings = ("M250 300Q330 318 376 250Q410 208 475 196Q462 250 475 330Q482 420 475 520Q440 470 404 532Q372 492 330 560"
             "Q290 516 250 590Q210 516 170 560Q128 492 96 532Q60 470 25 520Q18 420 25 330Q38 250 25 196Q90 208 124 250"
             "Q170 318 250 300Z")
    p.add(p.cut(wings, INK, 8, 10, 0.35))
    for k in (-3, -2, -1, 1, 2, 3):
        p.add(stroke(f"M{250 + 14 * k} 330Q{250 + 44 * k} 420 {250 + 52 * k} {540 - 14 * abs(k)}", VIOLET, 2.5,
                     cap="round", opacity=0.9))
    hood = smooth([(250, 70), (312, 92), (346, 160), (340, 236), (306, 300), (250, 336), (194, 300), (160, 236),
                   (154, 160), (188, 92)])
    p.add(path(hood, INK), stroke("M250 72L250 150", VIOLET, 2.5), stroke("M180 128Q250 160 320 128", VIOLET, 2.5))
    for side in (-1, 1):
        p.add(placed(250, 210, path("M16 8Q44 -32 88 -14Q72 26 16 8Z", PAPER), circle(53, -5, 14, INK),
                     circle(58, -10, 4, PAPER), scale=(side, 1)))
    p.add(path("M222 276Q238 264 250 271Q262 264 278 276Q250 300 222 276Z", RED))
    p.title("Les Vampires", colour=PAPER)
    return p


def intolerance():
    p = Poster(YELLOW)
    p.add(p.clip(box_d(0, 0, 500, 564), halftone((25, 25, 450, 565), 15, lambda u, v: 6 * max(0.0, v - 0.2),
                                                 overprint(RED, YELLOW, 0.38))))
    # The star of Ishtar over the gate of Babylon.
    star = [polar(250, 176, 104 if k % 2 == 0 else 44, -90 + 22.5 * k) for k in range(16)]
    p.add(ring(250, 176, 124, RED, 9), polygon(star, RED), circle(250, 176, 34, YELLOW), circle(250, 176, 22, RED))
    gate = "M170 590L170 360A80 80 0 0 1 330 360L330 590Z"
    p.add(p.cut(gate, RED, 8, 8))
    for w, c in [(68, PAPER), (60, RED), (46, PAPER), (40, INK)]:
        p.add(path(f"M{250 - w} 590L{250 - w} 360A{w} {w} 0 0 1 {250 + w} 360L{250 + w} 590Z", c))
    p.add(circle(250, 374, 18, YELLOW))
    for k in range(7):
        p.add(rect(196 - 9 * k, 492 + 14 * k, 108 + 18 * k, 14, PAPER if k % 2 else RED))
    elephant = smooth([(4, 200, 0), (-4, 150), (8, 96), (26, 58), (52, 34), (80, 34), (96, 16), (102, -20), (92, -52),
                       (104, -66), (118, -52), (122, -14), (116, 26), (100, 62), (88, 82), (112, 96), (134, 88),
                       (146, 104), (128, 124), (96, 122), (88, 140), (118, 156), (134, 178), (134, 200, 0)])
    beast = (path(elephant, INK, opacity=0.3, transform="translate(6 7)") + path(elephant, INK)
             + path("M34 62Q60 44 74 70Q78 104 50 116Q26 100 34 62Z", RED) + circle(84, 52, 4, YELLOW)
             + path("M92 72Q116 70 128 54Q122 82 94 84Z", PAPER)
             + stroke("M14 200Q40 150 84 160", RED, 3))
    for side in (-1, 1):
        column = (rect(0, 296, 142, 18, RED) + rect(10, 314, 122, 12, INK) + rect(20, 326, 102, 224, RED)
                  + "".join(rect(27 + 16 * k, 330, 5, 216, INK) for k in range(6))
                  + rect(10, 550, 122, 14, INK) + rect(0, 564, 142, 26, RED))
        x = 25 if side == 1 else 475
        p.add(placed(x, 0, column, scale=(side, 1)), placed(x + side * 4, 97, beast, scale=(side, 1)))
    p.title("Intolerance", colour=INK)
    p.foot = (INK, INK)
    return p


def the_cabinet_of_dr_caligari():
    p = Poster(PAPER)
    p.add(rays(262, 196, 30, 520, 15, GREY, 0.5, 172, 372))
    hill = [(25, 504), (25, 330), (118, 300), (190, 214), (262, 176), (338, 236), (420, 290), (475, 330), (475, 504)]
    p.add(polygon(hill, INK))
    light = [(118, 504), (192, 392), (160, 318), (222, 268), (228, 222), (262, 196), (296, 226), (300, 266), (366, 312),
             (336, 392), (404, 504)]
    p.add(polygon(light, PAPER))
    left = [(25, 504), (25, 78), (86, 25), (156, 112), (128, 268), (168, 386), (120, 504)]
    right = [(475, 504), (475, 118), (416, 44), (352, 150), (398, 262), (352, 372), (404, 504)]
    chimneys = [[(106, 25), (132, 40), (128, 84), (104, 60)], [(440, 40), (462, 25), (466, 110), (444, 86)]]
    for shape in (left, right, *chimneys):
        p.add(p.cut(points_d(shape), INK, 9, 7, 0.3))
    panes = [[(50, 96), (104, 78), (116, 160), (44, 150)], [(40, 214), (92, 196), (84, 268), (52, 282)],
             [(60, 330), (122, 348), (106, 420), (40, 400)], [(392, 128), (450, 100), (444, 196), (408, 184)],
             [(424, 240), (462, 262), (452, 330), (410, 310)], [(396, 384), (456, 372), (462, 450), (420, 456)]]
    for pane in panes:
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = pane
        p.add(polygon(pane, PAPER),
              stroke(f"M{(ax + bx) / 2 + 4} {(ay + by) / 2}L{(cx + dx) / 2 - 3} {(cy + dy) / 2}"
                     f"M{(ax + dx) / 2} {(ay + dy) / 2 - 6}L{(bx + cx) / 2} {(by + cy) / 2 + 5}", INK, 5))
    # The sleepwalker.
    body = ("M246 298L272 298L282 316L322 344L352 334L358 326L356 340L368 338L352 350L322 360L280 338L274 396L284 450"
            "L288 504L268 504L262 416L252 504L230 504L242 450L246 396L240 340L206 326L184 300L176 280L188 290L190 276"
            "L196 298L214 310L238 316Z")
    p.add(p.clip(box_d(25, 25, 450, 479), p.shadow(body, 14, 6, 0.4)), path(body, INK))
    p.add(path("M258 232L282 246L284 276L270 302L248 302L234 276L238 246Z", INK),
          path("M258 256L276 262L276 282L266 299L252 299L243 282L242 262Z", PAPER),
          path("M244 266L257 270L255 281L246 280ZM274 266L262 270L264 281L273 280Z", INK), rect(254, 288, 11, 2.8, INK))
    p.title("The Cabinet of", "Dr. Caligari", colour=INK)
    p.foot = (INK, INK)
    return p


def the_golem():
    p = Poster(TEAL)
    for points, colour in [([(25, 570), (25, 210), (70, 96), (112, 190), (120, 570)], overprint(INK, TEAL, 0.62)),
                           ([(96, 570), (100, 250), (150, 130), (176, 240), (180, 570)], INK),
                           ([(475, 570), (475, 170), (424, 60), (388, 200), (380, 570)], overprint(INK, TEAL, 0.62)),
                           ([(404, 570), (400, 260), (350, 150), (322, 260), (320, 570)], INK)]:
        p.add(polygon(points, colour))
    for x, y in [(54, 210), (76, 262), (140, 222), (350, 232), (430, 166), (442, 236)]:
        p.add(polygon([(x, y), (x + 13, y - 3), (x + 12, y + 24), (x - 2, y + 25)], YELLOW))
    body = "M25 570L25 470Q36 398 128 376L206 346L294 346L372 376Q464 398 475 470L475 570Z"
    p.add(p.cut(body, ORANGE, 0, -9, 0.35))
    p.add(p.clip(body, halftone((25, 330, 450, 250), 11, lambda u, v: 7.4 * max(0.0, 1.25 * u - 0.42), INK)))
    p.add(stroke("M132 568Q122 500 140 440M368 568Q378 500 360 440", INK, 7))
    hair = "M132 352Q108 210 142 140Q176 72 250 70Q324 72 358 140Q392 210 368 352L316 362L184 362Z"
    p.add(p.cut(hair, INK, 10, 10, 0.35))
    for k in range(-4, 5):
        p.add(stroke(f"M{250 + 10 * k} 78Q{250 + 27 * k} 130 {250 + 27 * k} 190", TEAL, 2.5, opacity=0.8))
    face = "M172 186L328 186L334 300Q320 372 250 384Q180 372 166 300Z"
    p.add(path(face, ORANGE))
    p.add(p.clip(face, path("M250 180L340 180L340 390L250 390L262 330L240 306Z", INK, opacity=0.32)))
    p.add(path("M166 214L238 226L236 250L174 252Z", INK), path("M334 214L262 226L264 250L326 252Z", INK),
          circle(208, 239, 6, YELLOW), circle(292, 239, 6, YELLOW),
          path("M238 250L262 250L276 306L224 306Z", INK, opacity=0.5), rect(206, 330, 88, 10, INK))
    star = [polar(250, 474, 74 if k % 2 == 0 else 29, -90 + 36 * k) for k in range(10)]
    p.add(p.shadow(points_d(star), 6, 8, 0.45), polygon(star, YELLOW),
          circle(250, 474, 20, INK), circle(250, 474, 13, TEAL))
    p.title("The Golem", colour=PAPER)
    return p
