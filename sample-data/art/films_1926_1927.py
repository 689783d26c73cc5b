"""The posters of the films of 1926 and 1927."""

import math

from kit import *


def the_adventures_of_prince_achmed():
    p = Poster(ORANGE)
    # The sheet is cut like lace: outside its edge the poster is transparent.
    p.sheet = box_d(0, 0, WIDTH, HEIGHT)
    for k in range(21):
        p.sheet += disc_d(k * 25, 0, 8) + disc_d(k * 25, HEIGHT, 8)
    for k in range(1, 30):
        p.sheet += disc_d(0, k * 25, 8) + disc_d(WIDTH, k * 25, 8)
    p.add(circle(268, 232, 196, YELLOW))
    p.add(p.clip(disc_d(268, 232, 196), halftone((72, 36, 392, 392), 12, lambda u, v: 6.4 * max(0.0, v - 0.42),
                                                 ORANGE)))
    for x, y, s in [(64, 92, 5), (104, 52, 3.4), (446, 70, 4), (452, 372, 3.4), (60, 210, 3.4)]:
        p.add(polygon([polar(x, y, 3 * s if k % 2 == 0 else s, 45 * k) for k in range(8)], INK))
    hills = smooth([(25, 538, 0), (25, 440), (80, 404), (140, 446), (204, 476), (270, 440), (330, 470), (400, 414),
                    (475, 440), (475, 538, 0)])
    land = box_d(25, 25, 450, 513)
    p.add(p.clip(land, path(hills, RED)))
    minarets = ("M70 538V430L84 396L98 430V538ZM396 538V446Q372 420 412 392Q452 420 428 446V538ZM440 538V410L452 380"
                "L464 410V538Z")
    front = smooth([(25, 538, 0), (25, 490), (100, 476), (180, 512), (260, 496), (350, 512), (430, 480), (475, 496),
                    (475, 538, 0)])
    p.add(p.clip(land, path(minarets, INK), path(front, INK)))
    horse = [path(smooth([(140, 292), (176, 252), (232, 262), (282, 244), (330, 250), (346, 290), (318, 322),
                          (262, 330), (214, 344), (160, 350)]), INK),
             path(smooth([(262, 262), (296, 210), (330, 156, 0), (352, 168), (374, 190), (352, 226), (346, 296),
                          (300, 300)]), INK),
             path(smooth([(328, 162), (340, 120, 0), (356, 148), (398, 172), (424, 196), (424, 212), (408, 218),
                          (380, 208), (354, 206)]), INK),
             limb([(322, 292, 24), (388, 280, 13), (376, 332, 8), (390, 352, 10)], INK),
             limb([(316, 306, 22), (372, 330, 12), (340, 372, 8), (348, 394, 10)], INK),
             limb([(176, 312, 34), (138, 366, 16), (88, 372, 8), (66, 392, 10)], INK),
             limb([(194, 320, 32), (176, 388, 15), (130, 412, 8), (116, 434, 10)], INK),
             path("M152 276Q96 232 56 268Q24 300 30 362Q48 306 78 298Q50 330 58 384Q72 322 104 306Q92 336 104 356Q112"
                  " 310 160 306Z", INK),
             path("M334 146Q296 150 286 190Q300 182 308 186Q276 204 270 240Q290 224 306 228L344 170Z", INK)]
    rider = [path("M232 262Q214 214 240 190Q270 190 280 222L284 262Z", INK),
             limb([(250, 262, 17), (286, 300, 12), (276, 346, 7), (296, 352, 6)], INK),
             limb([(262, 206, 11), (300, 232, 8), (330, 214, 6)], INK), limb([(258, 198, 13), (262, 172, 10)], INK),
             path("M246 160L280 156L282 168L292 176L282 180L282 190Q262 196 250 184Z", INK),
             path("M236 166Q228 130 264 130Q294 134 288 160Q262 150 236 166Z", INK),
             path("M262 134Q250 100 216 98Q236 110 246 138Z", INK),
             path("M240 192Q180 160 130 184Q108 200 96 232Q126 212 150 218Q134 236 136 252Q176 224 236 240Z", INK)]
    p.add(group(*horse, *rider, transform="translate(10 -8)", opacity=0.25),
          group(*horse, *rider, transform="translate(2 -22)"))
    # What the scissors took out of the black.
    p.add(group(circle(372, 172, 4, YELLOW), stroke("M330 182Q352 196 356 204M300 246Q330 250 340 272", YELLOW, 3.5),
                path("M222 262Q256 276 292 256L296 274Q256 294 222 280Z", RED),
                *(circle(232 + 14 * k, 273 - 1.5 * k, 2.6, YELLOW) for k in range(5)),
                *(circle(140 + 18 * k, 200 + 2 * k, 3, YELLOW) for k in range(5)), stroke("M240 160Q264 146 288 156",
                    YELLOW, 3), transform="translate(2 -22)"))
    p.title("The Adventures of", "Prince Achmed", colour=INK)
    p.foot = (INK, INK)
    return p


def a_page_of_madness():
    p = Poster(TEAL)
    p.add(p.clip(box_d(25, 25, 450, 411), stripes((25, 25, 450, 411), 14, 2, INK, 68, opacity=0.6)))
    mask = smooth([(250, 34), (330, 52), (376, 124), (378, 220), (356, 316), (314, 394), (250, 426), (186, 394),
                   (144, 316), (122, 220), (124, 124), (170, 52)])
    inner = [path(mask, PAPER),
             p.clip(mask, path("M100 20H400V150Q360 96 318 84Q282 76 250 62Q218 76 182 84Q140 96 100 150Z", INK),
                    halftone((120, 30, 260, 400), 10, lambda u, v: 4.6 * max(0.0, u * 1.3 - 0.75),
                             overprint(INK, PAPER, 0.4)))]
    for side in (-1, 1):
        inner.append(placed(250, 0, ellipse(62, 122, 27, 13, INK, opacity=0.85),
                            path("M26 214Q62 188 106 206Q98 222 66 224Q44 224 26 214Z", INK),
                            circle(66, 212, 8, PAPER), circle(66, 212, 4, INK), stroke("M28 200Q64 176 104 194", INK,
                                4), scale=(side, 1)))
    inner += [path("M236 206Q240 262 222 280Q236 296 250 290Q264 296 278 280Q260 262 264 206Q250 214 236 206Z",
                   overprint(INK, PAPER, 0.4), opacity=0.55),
              path("M200 338Q226 322 250 330Q274 322 300 338Q276 372 250 372Q224 372 200 338Z", RED),
              path("M214 340Q250 334 286 340Q268 352 250 352Q232 352 214 340Z", INK)]
    face = "".join(inner)
    bands = [(25, 78, 0), (78, 128, 26), (128, 172, -14), (172, 236, 34), (236, 268, -38), (268, 322, 12),
             (322, 360, -30), (360, 436, 8)]
    for top, bottom, shift in bands:
        p.add(p.clip(box_d(0, top, 500, bottom - top),
                     group(path(mask, INK, opacity=0.35, transform="translate(10 8)"), face,
                           transform=f"translate({shift} 0)")))
    for k in range(6):
        x = 43 + k * 79
        p.add(rect(x + 5, 25, 19, 411, INK, opacity=0.25), rect(x, 25, 19, 411, INK), rect(x + 4, 25, 3, 411, TEAL))
    p.add(rect(25, 25, 450, 13, INK), rect(25, 423, 450, 13, INK))
    p.title("A Page of", "Madness", colour=PAPER)
    return p


def the_general():
    p = Poster(YELLOW)
    p.add(p.clip(box_d(0, 0, 500, 575), halftone((0, 0, 500, 620), 16,
                                                 lambda u, v: 8.5 * max(0.0, 1 - math.hypot((u - 0.5) * 1.1,
                                                     v - 0.5) * 1.55), overprint(RED, YELLOW, 0.42))))
    for x, y, r in [(112, 74, 46), (60, 110, 34), (168, 54, 36), (388, 74, 46), (440, 110, 34), (332, 54, 36),
                    (250, 48, 30)]:
        p.add(circle(x + 5, y + 7, r, INK, opacity=0.25))
    for x, y, r in [(60, 110, 34), (112, 74, 46), (168, 54, 36), (440, 110, 34), (388, 74, 46), (332, 54, 36),
                    (250, 48, 30), (208, 46, 28), (292, 46, 28)]:
        p.add(circle(x, y, min(r, y - 16), PAPER))
    stack = "M176 66L324 66L332 84L296 168L284 208L216 208L204 168L168 84Z"
    p.add(p.cut(stack, INK), rect(176, 76, 148, 9, RED))
    p.add(path("M62 446L62 540L140 540L140 446ZM360 446L360 540L438 540L438 446Z", INK), circle(101, 490, 33, GREY),
          circle(101, 490, 22, INK), circle(399, 490, 33, GREY), circle(399, 490, 22, INK))
    boiler = disc_d(250, 322, 142)
    p.add(p.cut(boiler, INK, 10, 10), ring(250, 322, 128, RED, 9), circle(250, 322, 104, GREY))
    p.add(p.clip(disc_d(250, 322, 104), halftone((146, 218, 208, 208), 10, lambda u, v: 5.6 * max(0.0, v
                                                     + u * 0.4 - 0.5), INK)))
    for k in range(16):
        x, y = polar(250, 322, 116, 22.5 * k)
        p.add(circle(x, y, 4.5, YELLOW))
    p.add(circle(250, 300, 62, INK), circle(250, 300, 53, YELLOW), circle(250, 300, 42, PAPER),
          circle(250, 300, 20, YELLOW))
    p.add(rect(44, 424, 412, 30, RED), rect(44, 424, 412, 7, INK, opacity=0.35))
    catcher = "M120 454L380 454L462 580L38 580Z"
    p.add(p.clip(catcher, rect(0, 440, 500, 160, overprint(RED, YELLOW, 0.42)),
                 *(polygon([(136 + 32.5 * k, 454), (148 + 32.5 * k, 454), (76 + 52 * k, 582), (58 + 52 * k, 582)],
                           INK) for k in range(-2, 9))), stroke("M120 454L38 580H462L380 454", INK, 13, join="round"))
    # The driver, out in front.
    p.add(path("M206 536L210 446Q214 414 250 412Q286 414 290 446L294 536L262 536L250 492L238 536Z", INK, opacity=0.4,
               transform="translate(8 6)"),
          path("M206 540L210 446Q214 414 250 412Q286 414 290 446L294 540L260 540L250 494L240 540Z",
               overprint(INK, GREY, 0.72)), path("M234 414L250 450L266 414Z", PAPER),
          path("M246 418L254 418L258 440L250 450L242 440Z", INK), ellipse(250, 388, 26, 31, PAPER),
          path("M222 380Q222 350 250 350Q278 350 278 380L272 372L228 372Z", INK),
          path("M222 366L224 342Q250 334 276 342L278 366Z", GREY), path("M206 372Q250 352 294 372Q250 364 206 372Z",
              INK), circle(240, 386, 4, INK), circle(260, 386, 4, INK), stroke("M232 378H246M254 378H268", INK, 3),
          rect(243, 404, 14, 2.6, INK), ellipse(222, 546, 26, 9, INK), ellipse(278, 546, 26, 9, INK))
    p.title("The General", colour=INK)
    p.foot = (INK, INK)
    return p


def metropolis():
    p = Poster(INK)
    far, near = overprint(ORANGE, INK, 0.14), overprint(ORANGE, INK, 0.26)
    p.add(rays(250, 236, 120, 620, 30, overprint(ORANGE, INK, 0.55), 0.36, 160, 380))
    for side in (-1, 1):
        for x, top, w, colour in [(225, 150, 60, far), (172, 246, 58, near), (222, 330, 66, near), (168, 392, 56, far)]:
            tower = path(f"M{x - w} 582V{top + 46}H{x - w + 12}V{top + 18}H{x - w + 24}V{top}H{x}V582Z", colour)
            windows = "".join(rect(x - w + 8 + 13 * i, top + 60 + 17 * j, 6, 9, YELLOW)
                              for i in range(int((w - 8) / 13)) for j in range(int((520 - top) / 17))
                              if (i * 7 + j * 5 + x) % 3)
            p.add(placed(250, 0, tower, windows, scale=(side, 1)))
    p.add(polygon([(25, 582), (475, 582), (475, 570), (25, 570)], INK))
    bust = ("M250 330L296 344L300 372Q330 384 356 388Q420 402 424 470L418 582L82 582L76 470Q80 402 144 388Q170 384"
            " 200 372L204 344Z")
    p.add(p.shadow(bust, 0, -8, 0.6), path(bust, YELLOW), p.clip(bust, rect(250, 320, 200, 270, ORANGE)))
    for k, y in enumerate((346, 358, 370)):
        p.add(stroke(f"M{204 - 2 * k} {y}Q250 {y + 9} {296 + 2 * k} {y}", INK, 4))
    for side in (-1, 1):
        p.add(placed(250, 0, circle(128, 452, 47, INK), circle(128, 452, 40, ORANGE if side == 1 else YELLOW),
                     ring(128, 452, 25, INK, 3.5), path("M8 400Q60 400 86 430Q80 500 12 510Z", INK),
                     path("M13 408Q56 408 78 434Q72 492 17 502Z", ORANGE if side == 1 else YELLOW),
                     stroke("M14 530Q50 524 76 504M14 552Q56 546 90 520M14 574Q60 568 100 540", INK, 4),
                     scale=(side, 1)))
    p.add(rect(246, 394, 8, 188, INK))
    head = smooth([(250, 84), (306, 100), (336, 158), (334, 226), (318, 290), (284, 340), (250, 350), (216, 340),
                   (182, 290), (166, 226), (164, 158), (194, 100)])
    p.add(p.shadow(head, 0, 9, 0.7), path(head, YELLOW), p.clip(head, rect(250, 60, 120, 300, ORANGE),
                                                                halftone((250, 80, 100, 270), 8,
                                                                    lambda u, v: 4.4 * max(0.0, u * 1.2 - 0.4), INK)))
    for side in (-1, 1):
        p.add(placed(250, 0, circle(88, 216, 26, INK), circle(88, 216, 20, YELLOW if side == -1 else ORANGE),
                     circle(88, 216, 9, INK), path("M18 214Q46 196 74 210Q48 230 18 214Z", INK),
                     circle(46, 212, 5, PAPER), stroke("M12 204Q40 176 76 196", INK, 5),
                     stroke("M14 110Q40 116 56 150", INK, 4), scale=(side, 1)))
    p.add(path("M240 78L260 78L260 196L268 268L232 268L240 196Z", PAPER), path("M226 272L274 272L250 284Z", INK),
          path("M222 300Q250 290 278 300Q250 320 222 300Z", INK))
    # The rings that rise.
    for y, rx in ((142, 148), (300, 186), (470, 222)):
        ry = rx * 0.15
        p.add(stroke(f"M{250 - rx} {y}A{rx} {n(ry)} 0 0 0 {250 + rx} {y}", INK, 13),
              stroke(f"M{250 - rx} {y}A{rx} {n(ry)} 0 0 0 {250 + rx} {y}", PAPER, 7))
        p.add(stroke(f"M{250 - rx} {y}A{rx} {n(ry)} 0 0 1 {n(250 - rx * 0.5)} {n(y - ry * 0.86)}M{250 + rx} {y}A{rx}"
                     f" {n(ry)} 0 0 0 {n(250 + rx * 0.5)} {n(y - ry * 0.86)}", PAPER, 7, opacity=0.75))
    p.title("Metropolis", colour=YELLOW)
    p.foot = (YELLOW, YELLOW)
    return p


def the_lodger():
    p = Poster(GREY)
    p.add(p.cut("M250 25L475 580L25 580Z", YELLOW, 9, 0, 0.25))
    p.add(p.clip("M250 25L475 580L25 580Z", halftone((25, 25, 450, 560), 12,
                                                     lambda u, v: 5.6 * max(0.0, abs(u - 0.5) * 2.2 - 0.15) * v,
                                                     overprint(RED, YELLOW, 0.45))))
    coat = "M84 580Q84 420 128 370Q160 334 214 322L286 322Q340 334 372 370Q416 420 416 580Z"
    p.add(p.cut(coat, INK, 8, 0))
    p.add(stroke("M250 400L250 580M206 390L240 470L226 580M294 390L260 470L274 580", GREY, 3))
    p.add(ellipse(250, 236, 62, 84, PAPER), path("M188 224Q188 190 200 184L300 184Q312 190 312 224L312 236L188 236Z",
                                                 INK, opacity=0.55))
    p.add(ellipse(224, 226, 13, 7, PAPER), circle(226, 226, 6, INK), ellipse(276, 226, 13, 7, PAPER),
          circle(274, 226, 6, INK), stroke("M204 212L240 218M296 212L260 218", INK, 6))
    scarf = "M178 262Q250 236 322 262L338 344Q250 384 162 344Z"
    p.add(p.cut(scarf, RED, 4, 8), stroke("M176 290Q250 262 324 290M170 318Q250 292 330 318", INK, 6, opacity=0.55))
    p.add(path("M286 350L338 336L366 486L316 500Z", RED), *(stroke(f"M{320 + 9 * k} {499 - 2.4 * k}l3 18", RED, 5)
                                                            for k in range(6)),
          stroke("M296 402L350 388M306 446L358 434", INK, 6, opacity=0.55))
    p.add(p.cut("M180 176L192 92Q220 74 250 88Q280 74 308 92L320 176Z", INK, 0, 0),
          path("M184 148L316 148L320 178L180 178Z", RED),
          path("M112 196Q130 168 184 174L316 174Q370 168 388 196Q330 206 250 200Q170 206 112 196Z", INK))
    for k in range(12):
        y = 300 + 24 * k
        p.add(rect(0, y + 12 - (1 + k * 0.85), 500, 2 * (0.6 + k * 0.72), GREY))
    p.title("The Lodger", colour=INK)
    p.foot = (INK, INK)
    return p


def napoleon():
    p = Poster(PAPER)
    panels = [(25, 144, BLUE, INK), (178, 144, PAPER, RED), (331, 144, RED, INK)]
    for x, w, colour, line in panels:
        panel = box_d(x, 25, w, 512)
        p.add(p.cut(panel, colour, 5, 6, 0.2))
        p.add(p.clip(panel, stripes((x, 25, w, 512), 13, lambda t: 9 * max(0, t - 0.3), line, 0, opacity=0.6)))
    emperor = "".join([path("M52 537Q56 446 122 422L196 400L304 400L378 422Q444 446 448 537Z", INK),
                       path("M176 400L204 336L296 336L324 400L290 446L250 420L210 446Z", INK),
                       path("M214 372L250 420L286 372L290 340L210 340Z", PAPER),
                       path("M214 400L250 424L286 400L294 537L206 537Z", PAPER),
                       stroke("M250 430V537", overprint(INK, PAPER, 0.45), 4), *(circle(250, 452 + 26 * k, 5, INK)
                           for k in range(4)),
                       path("M192 210Q184 300 204 338Q224 372 250 374Q276 372 296 338Q316 300 308 210Z", PAPER),
                       path("M250 210H308Q316 300 296 338Q276 372 250 374Z", overprint(INK, PAPER, 0.45),
                            opacity=0.55),
                       path("M196 232L196 214H304V232Q280 224 268 240Q256 258 250 240Q236 226 196 244Z", INK),
                       stroke("M206 262L240 266M260 266L294 262", INK, 6), ellipse(225, 278, 12, 6, INK),
                       ellipse(275, 278, 12, 6, INK), path("M250 262L238 318L262 318Z", INK, opacity=0.3),
                       rect(230, 338, 40, 5, INK)])
    for side in (-1, 1):
        emperor += placed(250, 0, path("M112 420Q170 420 196 470L150 462Q130 440 112 440Z", PAPER),
                          *(stroke(f"M{150 + 9 * k} {458 + 2 * k}l4 30", PAPER, 5, cap="round") for k in range(6)),
                          scale=(side, 1))
    hat = ("M30 196Q52 216 96 208Q128 90 250 74Q372 90 404 208Q448 216 470 196Q452 262 384 248Q300 214 250 214Q200"
           " 214 116 248Q48 262 30 196Z")
    emperor += path(hat, INK) + stroke("M112 220Q190 186 250 186Q310 186 388 220", overprint(INK, PAPER, 0.45), 3)
    emperor += circle(318, 148, 32, BLUE) + circle(318, 148, 22, PAPER) + circle(318, 148, 12, RED)
    for x, w, _, _ in panels:
        panel = box_d(x, 25, w, 512)
        p.add(p.clip(panel, group(path(hat, INK, opacity=0.3, transform="translate(8 12)"), emperor)))
    p.title("Napoléon", colour=INK)
    p.foot = (INK, INK)
    return p


def sunrise():
    p = Poster(ROSE)
    p.add(p.clip(box_d(25, 25, 450, 291), *(ring(250, 316, 212 + 32 * k, RED, 17 - 2.4 * k, opacity=0.5 - 0.06 * k)
                                            for k in range(6))))
    p.add(p.cut("M60 316A190 190 0 0 1 440 316Z", RED, 0, 0))
    p.add(p.clip("M60 316A190 190 0 0 1 440 316Z", halftone((60, 120, 380, 200), 12,
                                                            lambda u, v: 7.2 * max(0.0, v - 0.15), YELLOW)))
    p.add(rect(25, 316, 450, 222, overprint(INK, ROSE, 0.66)))
    p.add(path("M25 316L25 290Q70 268 112 290Q150 300 170 316ZM475 316L475 280Q430 262 392 288Q360 300 340 316Z", INK))
    for k in range(13):
        y, w = 326 + 16.4 * k, (186, 172, 190, 150, 166, 120, 140, 96, 110, 70, 84, 50, 36)[k]
        p.add(path(f"M{250 - w} {n(y)}Q{250 - w * 0.5:.0f} {n(y - 4)} 250 {n(y)}T{250 + w} {n(y)}L{250 + w - 16}"
                   f" {n(y + 7.5)}Q{250 + w * 0.4:.0f} {n(y + 10)} 250 {n(y + 7)}T{250 - w + 16} {n(y + 7)}Z", RED
                   if k % 2 else YELLOW))
    boat = "M92 384Q250 420 408 384Q392 452 340 458L160 458Q108 452 92 384Z"
    p.add(path("M112 470Q250 500 388 470Q340 496 250 498Q160 496 112 470Z", INK, opacity=0.55), path(boat, INK),
          stroke("M96 390Q250 426 404 390", RED, 5))
    # He rows; she watches.
    p.add(path("M150 420L146 348Q150 318 178 314Q204 318 208 348L216 372L250 384L246 396L200 388L202 424Z", INK),
          ellipse(180, 290, 21, 25, INK), path("M154 288Q150 258 184 260Q212 264 206 286Q180 274 154 288Z", INK))
    p.add(path("M288 426L294 358Q300 326 324 324Q350 328 354 358L362 426Z", INK), ellipse(322, 302, 19, 23, INK),
          path("M296 312Q290 270 324 270Q356 272 350 314Q344 292 322 290Q304 292 296 312Z", PAPER))
    p.add(stroke("M242 388L60 474", INK, 7, cap="round"), path("M76 460L30 478L34 490L82 474Z", INK))
    p.title("Sunrise", colour=INK)
    p.foot = (INK, INK)
    return p
