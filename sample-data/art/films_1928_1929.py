"""The posters of the films of 1928 and 1929."""

import math

from kit import *


def the_crowd():
    p = Poster(GREEN)
    cloth = overprint(INK, GREEN, 0.68)
    for x, w, top in [(25, 62, 60), (95, 46, 120), (149, 70, 34), (227, 50, 92), (285, 74, 25), (367, 40, 110),
                      (415, 60, 52)]:
        p.add(rect(x, top, w, 260, INK, opacity=0.35))
        p.add(*(rect(x + 7 + 11 * i, top + 10 + 15 * j, 5, 8, YELLOW, opacity=0.75) for i in range((w - 8) // 11)
                for j in range(14)))

    def clerk(x, y, size, coat, band):
        return placed(x, y, path("M-64 190L-64 110Q-66 44 -24 34L24 34Q66 44 64 110L64 190Z", coat),
                      path("M-16 32L16 32L0 74Z", PAPER), path("M-4 36L4 36L6 60L0 70L-6 60Z", band),
                      ellipse(0, 2, 27, 35, PAPER), path("M6 -30Q29 -24 27 2Q25 32 0 37Q14 20 12 -10Z", INK,
                                                         opacity=0.25), path("M-30 -14Q-34 -66 0 -67Q34 -66 30 -14Z",
                          coat), path("M-46 -12Q0 -30 46 -12Q34 -2 0 -8Q-34 -2 -46 -12Z", coat),
                      path("M-30 -24Q0 -36 30 -24L30 -15Q0 -27 -30 -15Z", band), circle(-10, 6, 3, INK),
                      circle(10, 6, 3, INK), rect(-7, 20, 14, 2.6, INK), scale=size)

    rows = [(188, 0.42, 11), (226, 0.5, 10), (272, 0.6, 8), (328, 0.74, 7), (398, 0.9, 5), (482, 1.12, 4)]
    crowd = []
    for index, (y, size, count) in enumerate(rows):
        step = 104 * size
        start = 250 - step * (count + 1) / 2 + (step / 2 if index % 2 else 0)
        for k in range(count + 2):
            mine = index == 3 and k == 5
            crowd.append(clerk(start + k * step, y, size, RED if mine else INK if (k + index) % 2 else cloth, YELLOW
                               if mine else GREEN))
    p.add(p.clip(box_d(25, 25, 450, 551), *crowd))
    p.title("The Crowd", colour=PAPER)
    return p


def the_passion_of_joan_of_arc():
    p = Poster(PAPER)
    wall = overprint(INK, PAPER, 0.42)
    p.add(rect(25, 25, 450, 478, wall))
    p.add(p.clip(box_d(25, 25, 450, 478), polygon([(250, 0), (520, 0), (560, 520), (330, 520)], PAPER, opacity=0.55),
                 polygon([(376, 0), (398, 0), (446, 520), (420, 520)], INK),
                 polygon([(262, 150), (530, 128), (532, 150), (265, 172)], INK)))
    head = smooth([(300, 112), (320, 166), (315, 190), (338, 222), (354, 244), (334, 258, 0), (341, 270),
                   (326, 283, 0), (338, 296), (327, 310), (331, 342), (304, 364), (262, 366, 0), (262, 430),
                   (280, 620, 0), (90, 620, 0), (124, 430), (110, 340), (120, 180), (200, 100)])
    hair = smooth([(306, 136, 0), (284, 72), (210, 40), (124, 64), (74, 146), (76, 250), (102, 340), (140, 372, 0),
                   (158, 330), (152, 280), (172, 250), (196, 262), (206, 240, 0), (200, 200), (216, 168), (262, 160)])
    figure = [path(head, INK, opacity=0.35, transform="translate(12 6)"), path(head, PAPER),
              p.clip(head, halftone((80, 100, 290, 520), 10, lambda u, v: 5.4 * max(0.0, 0.72 - u * 1.1
                                        + max(0, v - 0.45) * 1.1), wall)), path(hair, INK),
              ellipse(180, 284, 17, 26, PAPER), stroke("M174 272Q190 270 186 290Q182 300 176 298", INK, 4,
                                                       cap="round"), path("M262 196Q286 176 308 188Q302 208 276 208Z",
                  INK), circle(292, 190, 6, PAPER), stroke("M254 178Q280 154 312 164", INK, 6, cap="round"),
              path("M327 268L341 270L326 283L336 296L314 290Q306 284 312 278Z", RED),
              stroke("M290 210Q294 250 300 268", INK, 4, cap="round"),
              path("M300 262Q312 284 302 292Q290 292 292 280Z", INK)]
    p.add(p.clip(box_d(25, 25, 450, 478), group(*figure, transform="translate(-18 42) rotate(-21 200 320)")))
    outer = smooth([(25, 503, 0), (25, 404), (50, 344, 0), (64, 400), (96, 430), (124, 372, 0), (140, 420),
                    (170, 440), (206, 376, 0), (222, 424), (250, 444), (288, 388, 0), (300, 432), (334, 446),
                    (368, 384, 0), (384, 424), (410, 430), (444, 350, 0), (456, 400), (475, 420), (475, 503, 0)])
    middle = smooth([(25, 503, 0), (25, 446), (50, 404, 0), (74, 452), (124, 424, 0), (150, 466), (206, 430, 0),
                     (236, 470), (288, 436, 0), (316, 472), (368, 434, 0), (400, 462), (444, 410, 0), (475, 460),
                     (475, 503, 0)])
    core = smooth([(25, 503, 0), (50, 456, 0), (84, 490), (124, 466, 0), (160, 492), (206, 470, 0), (244, 494),
                   (288, 474, 0), (326, 494), (368, 472, 0), (406, 490), (444, 458, 0), (475, 503, 0)])
    p.add(p.clip(box_d(25, 25, 450, 478), path(outer, RED), path(middle, overprint(RED, YELLOW, 0.55)),
                 path(core, YELLOW)))
    p.title("The Passion of", "Joan of Arc", colour=INK)
    p.foot = (INK, INK)
    return p


def the_wind():
    p = Poster(ORANGE)
    sky = box_d(25, 25, 450, 533)
    bands = []
    for k in range(17):
        y = 40 + 33 * k
        colour = (YELLOW, RED, ORANGE, YELLOW)[k % 4]
        bands.append(path(f"M0 {y + 60}C90 {y - 30} 190 {y + 90} 300 {y + 20}S440 {y - 50} 520 {y}L520 {y + 16}C440"
                          f" {y - 26} 400 {y} 310 {y + 44}S90 {y} 0 {y + 76}Z", colour))
    p.add(p.clip(sky, rect(25, 25, 450, 533, ORANGE), *bands))
    # The white horse the wind is said to be; its mane is the storm.
    mane = []
    for k, (x, y, colour) in enumerate([(236, 66, INK), (250, 104, PAPER), (262, 146, INK), (270, 190, PAPER),
                                        (276, 236, RED), (280, 284, PAPER), (282, 330, YELLOW)]):
        end = 60 + 46 * k
        mane.append(path(f"M{x - 26} {y - 18}C{x + 40} {y - 60} {x + 90} {y + 40} {x + 140} {y}S{470} {end - 30} 500"
                         f" {end - 34}C470 {end} 430 {end + 10} {x + 150} {y + 34}S{x + 40} {y + 10} {x - 20}"
                         f" {y + 56}Z", colour))
    horse = smooth([(228, 30, 0), (206, 74), (170, 106), (132, 176), (92, 236), (62, 268), (58, 300), (78, 318),
                    (110, 312), (132, 296), (166, 300), (196, 318), (222, 350), (230, 410), (200, 480, 0),
                    (330, 470, 0), (330, 380), (316, 280), (296, 170), (262, 90), (240, 80)])
    p.add(p.clip(sky, *mane, path(horse, INK, opacity=0.3, transform="translate(9 11)"), path(horse, PAPER),
                 p.clip(horse, halftone((50, 30, 300, 460), 11, lambda u, v: 5.2 * max(0.0, u + v * 0.8 - 0.85),
                                        overprint(INK, PAPER, 0.4)))))
    p.add(path("M164 160Q190 146 206 168Q188 182 164 160Z", INK), circle(190, 163, 4, PAPER),
          ellipse(78, 276, 8, 12, INK), stroke("M70 304Q92 306 112 296", INK, 5, cap="round"),
          stroke("M212 250Q214 300 190 312", overprint(INK, PAPER, 0.4), 5, cap="round"),
          path("M228 30Q262 60 250 96Q240 84 224 86Z", INK))
    dune = smooth([(25, 558, 0), (25, 470), (90, 450), (170, 468), (260, 446), (350, 458), (420, 440), (475, 452),
                   (475, 558, 0)])
    front = smooth([(25, 558, 0), (25, 520), (110, 506), (220, 526), (330, 504), (475, 524), (475, 558, 0)])
    p.add(p.clip(sky, path(dune, RED), p.clip(dune, stripes((25, 440, 450, 120), 9, 2.5, INK, -6, opacity=0.35))))
    p.add(turned(-5, 370, 470, path("M306 400L372 352L440 400L436 408L310 408Z", INK), rect(316, 400, 114, 92, INK),
                 rect(334, 424, 30, 30, YELLOW), stroke("M349 424V454M334 439H364", INK, 4),
                 rect(386, 420, 26, 70, RED), rect(406, 350, 14, 34, INK)))
    p.add(p.clip(sky, path(front, YELLOW)))
    p.add(placed(140, 528, path("M-22 0Q-6 -50 -12 -84Q0 -98 14 -84Q20 -60 52 -34Q74 -20 92 -22Q70 -4 40 -2Z", INK),
                 circle(-4, -106, 13, INK),
                 path("M-16 -108Q-14 -128 6 -122Q40 -128 72 -110Q40 -112 14 -98Q2 -92 4 -108Z", INK),
                 limb([(-4, -82, 6), (-28, -74, 5), (-26, -104, 4)], INK)))
    p.title("The Wind", colour=INK)
    p.foot = (INK, INK)
    return p


def man_with_a_movie_camera():
    p = Poster(RED)
    metal = overprint(INK, PAPER, 0.45)
    for k in range(9):
        p.add(polygon([(25, 60 + 50 * k), (25, 84 + 50 * k), (104, 116 + 44 * k), (104, 95 + 44 * k)], PAPER) if 84
              + 50 * k < 500 else "")
        p.add(polygon([(475, 60 + 50 * k), (475, 84 + 50 * k), (396, 116 + 44 * k), (396, 95 + 44 * k)], INK) if 84
              + 50 * k < 500 else "")
    legs = "M232 356L268 356L280 498L220 498ZM206 350L236 356L130 498L92 498ZM264 356L294 350L408 498L370 498Z"
    p.add(p.shadow(legs, 8, 0, 0.35), path(legs, INK), path("M236 498L242 380L258 380L264 498Z", YELLOW),
          path("M108 498L206 372L214 376L118 498ZM392 498L294 372L286 376L382 498Z", YELLOW))
    magazines = disc_d(178, 84, 58) + disc_d(322, 84, 58)
    p.add(p.cut(magazines, INK, 8, 8, 0.35))
    for x in (178, 322):
        p.add(ring(x, 84, 42, metal, 5), circle(x, 84, 11, metal), *(circle(*polar(x, 84, 26, a), 8.5, RED)
                  for a in range(30, 390, 72)))
    box = box_d(104, 122, 292, 240)
    p.add(p.cut(box, INK, 9, 9, 0.35), rect(116, 134, 268, 216, metal), p.clip(box_d(116, 134, 268, 216),
              stripes((116, 134, 268, 216), 12, lambda t: 2 + 5 * t, INK, 0, opacity=0.55)))
    p.add(stroke("M396 290L446 290L446 232", INK, 20, join="round"), stroke("M396 290L446 290L446 232", metal, 8,
              join="round"), circle(446, 228, 16, YELLOW), ring(446, 228, 16, INK, 4))
    cx, cy = 250, 240
    p.add(p.shadow(disc_d(cx, cy, 122), 8, 8, 0.45), circle(cx, cy, 122, INK), circle(cx, cy, 110, YELLOW),
          circle(cx, cy, 100, INK), ring(cx, cy, 92, metal, 3))
    for a in range(0, 360, 15):
        x, y = polar(cx, cy, 116, a)
        p.add(circle(x, y, 2.4, PAPER))
    eye = "M162 240Q206 168 250 168Q294 168 338 240Q294 304 250 304Q206 304 162 240Z"
    p.add(path(eye, PAPER), p.clip(eye, circle(250, 236, 58, TEAL), rays(250, 236, 26, 58, 30, INK, 0.35,
                                       opacity=0.7), ring(250, 236, 57, INK, 5), circle(250, 236, 28, INK),
                                   path("M150 240Q206 168 250 168Q294 168 350 240L350 262Q294 186 250 186Q206 186 150"
                                        " 262Z", INK, opacity=0.35)), circle(238, 222, 9, PAPER),
          stroke("M162 240Q206 168 250 168Q294 168 338 240", RED, 9, cap="round"),
          stroke("M170 250Q206 304 250 304Q294 304 330 250", RED, 5, cap="round"))
    for k in range(-3, 4):
        a = -90 + 15 * k
        bx, by = 250 + 22 * k, 168 + 4.2 * k * k
        ex, ey = polar(bx, by, 18, a)
        p.add(stroke(f"M{n(bx)} {n(by)}L{n(ex)} {n(ey)}", RED, 4, cap="round"))
    p.title("Man with a", "Movie Camera", colour=PAPER)
    return p


def pandoras_box():
    p = Poster(VIOLET)
    blush = overprint(RED, PAPER, 0.42)
    p.add(rays(250, 500, 0, 720, 22, YELLOW, 0.5, 196, 344, opacity=0.95))
    shoulders = "M92 520Q96 432 160 408Q214 396 216 352L284 352Q286 396 340 408Q404 432 408 520Z"
    p.add(p.cut(shoulders, PAPER, 8, 0))
    p.add(p.clip(shoulders, halftone((92, 340, 316, 200), 10, lambda u, v: 5 * max(0.0, u * 1.1 - 0.4), blush),
                 path("M210 352H290V392Q250 420 210 392Z", blush)))
    p.add(stroke("M150 520L176 408M350 520L324 408", INK, 7))
    for k in range(15):
        a = math.pi * k / 14
        p.add(circle(250 - 66 * math.cos(a), 408 + 54 * math.sin(a), 6.5, PAPER), ring(250 - 66 * math.cos(a), 408
                  + 54 * math.sin(a), 6.5, INK, 2.5))
    hair = smooth([(250, 46), (344, 70), (394, 150), (398, 250), (380, 330, 0), (312, 352, 0), (320, 300), (300, 220),
                   (200, 220), (180, 300), (188, 352, 0), (120, 330, 0), (102, 250), (106, 150), (156, 70)])
    p.add(p.cut(hair, INK, 9, 8, 0.35))
    face = "M168 190L332 190Q344 280 312 342Q280 384 250 386Q220 384 188 342Q156 280 168 190Z"
    p.add(path(face, PAPER), p.clip(face, path("M262 180H350V400H250Q290 380 296 320Z", blush, opacity=0.55)))
    for side in (-1, 1):
        p.add(placed(250, 0, path("M70 180L96 190Q106 270 84 316Q64 338 40 322Q70 312 74 270Q74 230 64 196Z", INK),
                     path("M20 252Q46 226 72 248Q50 268 20 252Z", INK), circle(48, 249, 5, PAPER),
                     stroke("M18 226Q44 206 70 220", INK, 4, cap="round"), circle(60, 286, 10, blush, opacity=0.7),
                     scale=(side, 1)))
    p.add(path("M150 120Q250 90 350 120L344 214Q250 200 156 214Z", INK),
          stroke("M170 80Q210 58 250 58M150 120Q170 100 200 92", VIOLET, 4, cap="round"))
    p.add(*(stroke(f"M{250 + 26 * k} 120L{250 + 25 * k} 206", VIOLET, 2, opacity=0.7) for k in range(-3, 4)))
    p.add(stroke("M250 262L242 300L256 302", VIOLET, 4, join="round"),
          path("M222 332Q238 318 250 326Q262 318 278 332Q250 362 222 332Z", RED), stroke("M222 332Q250 340 278 332",
              INK, 2.5))
    box = "M40 500L460 500L436 600L64 600Z"
    p.add(p.shadow(box, 0, -8, 0.4), path(box, INK), path("M25 482L475 482L468 508L32 508Z", RED),
          rect(32, 492, 436, 4, YELLOW), stroke("M78 526L422 526L408 588L92 588Z", YELLOW, 3))
    p.add(*(polygon([(x, 541), (x + 13, 557), (x, 573), (x - 13, 557)], YELLOW if k % 2 else RED) for k,
            x in enumerate((120, 156, 192, 308, 344, 380))))
    p.add(circle(250, 548, 22, YELLOW), circle(250, 543, 7, INK), path("M246 545L254 545L258 562L242 562Z", INK))
    p.title("Pandora's Box", colour=PAPER)
    return p


def un_chien_andalou():
    p = Poster(NIGHT)
    p.add(p.clip(box_d(0, 0, 500, 430), stripes((0, 0, 500, 430), 16, lambda t: 2 + 3.4 * math.sin(math.pi * t),
                                                overprint(PAPER, NIGHT, 0.18), 0)))
    lid = "M25 226Q140 44 250 44Q360 44 475 226Q360 392 250 392Q140 392 25 226Z"
    p.add(p.cut(lid, ROSE, 8, 12, 0.45))
    p.add(p.clip(lid, halftone((25, 40, 450, 356), 11, lambda u, v: 4.8 * max(0.0, abs(v - 0.5) * 2.4 - 0.5),
                               overprint(NIGHT, ROSE, 0.4))))
    eye = "M52 226Q150 92 250 92Q350 92 448 226Q350 346 250 346Q150 346 52 226Z"
    p.add(path(eye, PAPER))
    p.add(p.clip(eye, path("M40 226Q150 92 250 92Q350 92 460 226L460 250Q350 122 250 122Q150 122 40 250Z", INK,
                           opacity=0.28)))
    moon = disc_d(250, 218, 104)
    p.add(p.clip(eye, path(moon, INK), circle(250, 218, 96, YELLOW),
                 p.clip(disc_d(250, 218, 96), halftone((154, 122, 192, 192), 9,
                                                       lambda u, v: 5.2 * max(0.0,
                                                           math.hypot(u - 0.36, v - 0.36) - 0.36) * 1.7,
                                                       overprint(NIGHT, YELLOW, 0.28)),
                        circle(214, 176, 18, overprint(NIGHT, YELLOW, 0.28), opacity=0.8),
                        circle(282, 270, 24, overprint(NIGHT, YELLOW, 0.28), opacity=0.8),
                        circle(222, 278, 11, overprint(NIGHT, YELLOW, 0.28), opacity=0.8),
                        circle(300, 172, 10, overprint(NIGHT, YELLOW, 0.28), opacity=0.8))))
    p.add(stroke("M52 226Q150 92 250 92Q350 92 448 226", INK, 9), stroke("M52 226Q150 346 250 346Q350 346 448 226",
              INK, 4))
    for k in range(-5, 6):
        t = 0.5 + k / 14
        x = 52 * (1 - t) ** 2 + 2 * 250 * t * (1 - t) + 448 * t * t
        y = 226 * (1 - t) ** 2 + 2 * -42 * t * (1 - t) + 226 * t * t
        y = max(y, 92)
        ex, ey = polar(x, y, 40, -90 + 9 * k)
        p.add(path(f"M{n(x - 5)} {n(y)}Q{n(x)} {n(y - 20)} {n(ex)} {n(ey)}Q{n(x + 6)} {n(y - 18)} {n(x + 6)} {n(y)}Z",
                   INK))
    # The cloud that is a blade.
    razor = "M500 120L300 186L120 262Q100 272 96 284Q112 286 140 278L500 176Z"
    p.add(p.shadow(razor, 6, 12, 0.4), path(razor, overprint(INK, PAPER, 0.42)),
          path("M500 158L140 270Q112 280 96 284Q112 286 140 278L500 176Z", PAPER), stroke("M500 132L310 194", INK, 3,
              opacity=0.5))
    ant = (ellipse(-10, 0, 9, 6, "SHELL") + circle(0, 0, 4, "SHELL") + circle(9, 0, 5, "SHELL")
           + stroke("M-2 -2L-9 -14M0 -2L0 -15M2 -2L9 -14M-2 2L-9 14M0 2L0 15M2 2L9 14M12 -2L20 -9M12 2L20 9", "SHELL",
                    2))
    for x, y, degrees, shell in [(236, 318, 170, INK), (196, 350, 130, INK), (292, 366, 60, INK),
                                 (118, 386, 150, PAPER), (60, 352, 190, PAPER), (172, 402, 110, PAPER),
                                 (352, 396, 70, PAPER), (424, 374, 20, PAPER), (452, 318, -40, PAPER)]:
        p.add(placed(x, y, ant.replace("SHELL", shell), degrees=degrees))
    p.title("Un Chien", "Andalou", colour=PAPER)
    return p


def a_throw_of_dice():
    p = Poster(TEAL)
    arch = ("M25 600L25 25L475 25L475 600L430 600L430 300Q430 262 404 250Q410 212 372 204Q368 168 326 166Q310 130 278"
            " 128Q262 112 250 92Q238 112 222 128Q190 130 174 166Q132 168 128 204Q90 212 96 250Q70 262 70 300L70 600Z")
    inner = ("M70 600L70 300Q70 262 96 250Q90 212 128 204Q132 168 174 166Q190 130 222 128Q238 112 250 92Q262 112 278"
             " 128Q310 130 326 166Q368 168 372 204Q410 212 404 250Q430 262 430 300L430 600Z")
    p.add(path(inner, overprint(RED, YELLOW, 0.42)),
          p.clip(inner, *(polygon([polar(x, y, 33 if k % 2 == 0 else 22, 22.5 * k) for k in range(16)], YELLOW)
                          + circle(x, y, 9, overprint(RED, YELLOW, 0.42)) for x in range(70, 431, 60)
                          for y in range(120, 601, 60)),
                 *(polygon([(x, y - 11), (x + 11, y), (x, y + 11), (x - 11, y)], RED) for x in range(100, 431, 60)
                   for y in range(150, 601, 60))))
    p.add(p.clip(inner, path(arch, INK, opacity=0.35, transform="translate(8 12)")), path(arch, INK))
    p.add(stroke("M60 600L60 300Q60 256 86 244Q82 204 118 196Q124 158 168 156Q186 122 216 118Q236 102 250 76Q264 102"
                 " 284 118Q314 122 332 156Q376 158 382 196Q418 204 414 244Q440 256 440 300L440 600", YELLOW, 4))
    for k in range(11):
        y = 330 + 26 * k
        for x in (42.5, 457.5):
            p.add(polygon([(x, y - 9), (x + 8, y), (x, y + 9), (x - 8, y)], YELLOW if k % 2 else RED))
    for side in (-1, 1):
        for x, y, r in [(172, 84, 34)]:
            cx = 250 + side * x
            p.add(*(placed(cx, y, path("M0 0Q-13 -18 0 -36Q13 -18 0 0Z", YELLOW if k % 2 else RED), degrees=45 * k)
                    for k in range(8)), circle(cx, y, 8, PAPER))

    def die(x, y, size, degrees, top, left, right):
        # A cube seen on its corner: three rhombi.
        ux, uy, vx, vy = 0.866, 0.5, -0.866, 0.5

        def face(ox, oy, ax, ay, bx, by, colour, pips, pip):
            corners = [(ox, oy), (ox + ax * size, oy + ay * size), (ox + (ax + bx) * size, oy + (ay + by) * size),
                       (ox + bx * size, oy + by * size)]
            spots = {1: [(0.5, 0.5)], 2: [(0.25, 0.25), (0.75, 0.75)], 3: [(0.25, 0.25), (0.5, 0.5), (0.75, 0.75)],
                     4: [(0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75)],
                     5: [(0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75), (0.5, 0.5)],
                     6: [(0.25, 0.2), (0.25, 0.5), (0.25, 0.8), (0.75, 0.2), (0.75, 0.5), (0.75, 0.8)]}[pips]
            r = 0.16 if pips == 1 else 0.095
            out = polygon(corners, colour)
            for s, t in spots:
                ring_points = [(ox + (ax * (s + r * math.cos(q)) + bx * (t + r * math.sin(q))) * size, oy
                                + (ay * (s + r * math.cos(q)) + by * (t + r * math.sin(q))) * size)
                               for q in (k * math.pi / 8 for k in range(16))]
                out += path(smooth(ring_points), pip)
            return out

        outline = [(0, -size), (ux * size, -size / 2), (ux * size, size / 2), (0, size), (-ux * size, size / 2),
                   (-ux * size, -size / 2)]
        content = (polygon(outline, INK, opacity=0.4, transform=f"translate({n(size * 0.12)} {n(size * 0.2)})")
                   + polygon(outline, INK, stroke=INK, stroke_width=n(size * 0.07), stroke_linejoin="round")
                   + face(0, -size, ux, uy, vx, vy, PAPER, top, RED if top == 1 else INK)
                   + face(-ux * size, -size / 2, ux, uy, 0, 1, overprint(INK, PAPER, 0.5), left, INK)
                   + face(0, 0, ux, -uy, 0, 1, overprint(RED, PAPER, 0.42), right, INK))
        return placed(x, y, content, degrees=degrees)

    p.add(die(208, 288, 92, -16, 5, 3, 6), die(302, 474, 108, 20, 1, 2, 4))
    p.title("A Throw of Dice", colour=PAPER)
    return p
