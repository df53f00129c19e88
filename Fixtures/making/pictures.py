"""The images: for each file its size and source, and how it is encoded."""

from canvas import Canvas, ellipse, step, u, v
from scenes import (DAWN, DAY, FOG, SUNSET, boat, dunes, ferry, hills, interference, night, pier, sea,
                    spiral)
from textures import coloured, noise, veil
import things


class Picture:
    """A still, or with `frames` an animation. `source` takes width and height and gives ffmpeg's graph; it is drawn
    `fineness` times as large, so that edges come out smooth."""

    def __init__(self, width, height, source, quality=None, frames=1, alpha=False, fineness=2):
        self.width, self.height, self.source = width, height, source
        self.quality, self.frames, self.alpha, self.fineness = quality, frames, alpha, fineness


def canvas(picture):
    return lambda width, height: picture.graph(width, height)


def foggy(picture, seed, colour="#e6e9e6", density=1.4):
    """Fog over a scene, thicker in places."""
    return lambda width, height: veil(
        picture.graph(width, height), noise(width, height, seed, cells=(5, 6), contrast=density), colour, width,
        height)


def contours(seed, *stops):
    """A map: heights in steps, with a line between them."""
    steps = "format=gray,lut=c0='floor(val/14)*14',split[m0][m1];[m1]edgedetect=low=0.02:high=0.03[e]"
    return lambda width, height: (
        f"{noise(width, height, seed, (5, 4), 5, 2.6)},{steps};[m0]{coloured(*stops)}[c];"
        "[e]negate,format=gbrp[l];[c][l]blend=all_mode=multiply:all_opacity=0.55")


def swim(seed, *stops):
    return canvas(interference(seed, stops, sources=5, wavelength=0.09))


def rust(width, height):
    """A rusty plate, its upper half newly blue, with drops that ran."""
    shades = coloured((0, "#2a120a"), (0.45, "#8a3d17"), (0.7, "#c4692a"), (1, "#e9b27a"))
    plate = f"{noise(width, height, 31, (9, 7), 6, 2.8)},{shades}"
    edge = f"0.06+0.05*sin({u}*6)+0.10*pow(abs(sin({u}*17+1)),9)+0.06*pow(abs(sin({u}*41)),20)"
    paint = Canvas("#1f5f8b").light("#ffffff", f"0.10*sin({v}*90+3*sin({u}*7))*0.4+0.12*({u}+0.5)")
    mask = step(edge, v, 0.004)
    return (f"{plate}[p];{paint.graph(width, height, alpha=mask)}[b];[p][b]overlay=format=gbrp:shortest=1")


def anchored():
    calm = sea(DAWN, horizon=-0.02, sun=(0.28, -0.12, 0.05))
    return boat(calm, -0.14, 0.12, 0.2, "#1f5f6b")


FOGGY_PIER = sea(FOG, horizon=-0.05, deep="#5f7078", glitter=10)
for number in range(5):
    FOGGY_PIER.over("#2f383d", ellipse(-0.1 + 0.14 * number, 0.1 + 0.09 * number, 0.012 + 0.006 * number,
                                       0.10 + 0.05 * number, 0.3))

MAP = [(0, "#1d5c7a"), (0.38, "#6fb3c0"), (0.42, "#e8dfb8"), (0.6, "#a9bf7a"), (1, "#6b7d4a")]
STONES = [("#8a7a68", "#2a211c", "#fff0c8"), ("#6f7d86", "#1c252c", "#e8f4ff"), ("#a0765a", "#34190f", "#ffdca0"),
          ("#7b8a6c", "#1f2a1b", "#f4ffd8"), ("#84708a", "#261c2e", "#ffe4f4"), ("#b9a88c", "#3b3024", "#ffffff")]

PICTURES = {
    "herring-gull-portrait/0.jpg": Picture(512, 640, canvas(things.gull()), 2),
    "kiri-no-asa/0.webp": Picture(640, 427, foggy(FOGGY_PIER, 11), 88),
    "cafe-a-six-heures/0.webp": Picture(
        427, 640, canvas(things.cup(("#7b4a2d", "#3f2417"), "#2a140b", "#d9a066")), 88),
    "ad-ferry-summer/0.png": Picture(600, 314, canvas(things.islands())),
    "net-menders/0.jpg": Picture(
        600, 400, canvas(things.net([(0, "#d9c9a8"), (1, "#8f6f4e")], "#2f5d62")), 3),
    "net-menders/2.jpg": Picture(
        600, 400, canvas(things.net([(0, "#22384d"), (1, "#5d8aa8")], "#e9c46a", 12.0, 0.05, "#d1495b")), 3),
    "net-menders/3.jpg": Picture(
        400, 600, canvas(things.net([(0, "#efe6d8"), (1, "#c98f6b")], "#6b2d3c", 8.0, 0.02, "#2a9d8f")), 3),
    "qarib-saghir/0.jpg": Picture(640, 427, canvas(anchored()), 2),
    "low-tide/0.jpg": Picture(720, 405, canvas(dunes("#c98e6a", "#5a3a44", 1.0)), 2),
    "walks-north-mole/0.jpg": Picture(
        480, 360, contours(21, *MAP),
        3),
    "walks-north-mole/1.jpg": Picture(
        480, 360, canvas(hills(DAY, ["#8fb0b8", "#6d9a86", "#4c7d5c", "#345f3f", "#21452c"], 5)), 2),
    "walks-north-mole/2.jpg": Picture(480, 360, canvas(sea(DAY, horizon=-0.12, deep="#0f4c5c")), 3),
    "salt-and-pepper/0.webp": Picture(360, 450, lambda w, h: things.salt_and_pepper(16).graph(w, h, 10), 55, 16),
    "one-red-door/0.jpg": Picture(480, 480, canvas(things.door()), 2),
    "proino/0.jpg": Picture(
        600, 450,
        canvas(ferry(sea(SUNSET[2:] + [(1.2, "#fff0c0")], sun=(-0.3, -0.06, 0.06)), "0.22", "0.1", "0.16")),
        2),
    "fog-machine/0.png": Picture(512, 320, canvas(things.horn())),
    "bi-oneun-golmok/0.avif": Picture(
        427, 640, canvas(things.rain(
            [(0, "#0a0d1c"), (0.6, "#141a30"), (1, "#0b1020")],
            [(-0.2, -0.25, 0.06, "#ff3f8e"), (0.18, -0.1, 0.07, "#37c8ff"), (-0.08, 0.02, 0.05, "#ffc74a"),
             (0.24, -0.36, 0.04, "#a06bff")], 5)), 22),
    "harbour-swim/0.jpg": Picture(432, 540, swim(1, (0, "#a8442a"), (0.5, "#f2a65a"), (1, "#ffe8b8")), 3),
    "harbour-swim/1.jpg": Picture(432, 540, swim(2, (0, "#7d5a3c"), (0.5, "#d9b27a"), (1, "#fdf2d0")), 3),
    "harbour-swim/2.jpg": Picture(432, 540, swim(3, (0, "#3f6b52"), (0.5, "#8fc49a"), (1, "#eef7d8")), 3),
    "harbour-swim/4.jpg": Picture(432, 540, swim(5, (0, "#1f5a66"), (0.5, "#56b0b8"), (1, "#dff6f0")), 3),
    "harbour-swim/5.jpg": Picture(432, 540, swim(6, (0, "#123f66"), (0.5, "#4a90c2"), (1, "#d8ecfa")), 3),
    "harbour-swim/6.jpg": Picture(432, 540, swim(7, (0, "#141f52"), (0.5, "#4a5fb0"), (1, "#dfe4fb")), 3),
    "harbour-swim/7.jpg": Picture(432, 540, swim(8, (0, "#2b2d42"), (0.5, "#8d99ae"), (1, "#f8fbff")), 3),
    "subah-ki-chai/0.jpg": Picture(
        450, 600, canvas(things.cup(("#2f6f6a", "#153f3d"), "#9c4a16", "#e8a84f", "#f7e3c8", 3.0)), 2),
    "kite-day/0.gif": Picture(400, 267, lambda w, h: things.kites(16).graph(w, h, 8), None, 16),
    "glass-float/0.png": Picture(
        320, 320, lambda w, h: things.glass()[0].graph(w, h, alpha=things.glass()[1]), alpha=True),
    "sunset-nobody-watched/0.jpg": Picture(
        720, 405, canvas(hills(SUNSET, ["#7d3c5e", "#5a2a4e", "#3c1d3f", "#22112b"], 9, (0.2, -0.03, 0.07))), 2),
    "letters-box/0.jpg": Picture(600, 400, canvas(things.letters([(0, "#f1e4c4"), (1, "#d9c093")], "#3a2f55")), 3),
    "letters-box/1.jpg": Picture(
        600, 400, canvas(things.letters([(0, "#e9dcc0"), (1, "#c9ab7c")], "#4a2c1d", 13, -0.05, "#9c2230")), 3),
    "letters-box/2.webp": Picture(400, 300, canvas(things.envelope()), 70),
    "ogen/0.jpg": Picture(480, 360, rust, 3),
    "blue-hour/0.avif": Picture(640, 360, canvas(night(4)), 22, fineness=1),
    "ladder-to-nowhere/0.jpg": Picture(360, 640, canvas(things.ladder()), 2),
    # The progressive one: see `jpegtran` in make-media.
    "end-of-the-pier/0.jpg": Picture(
        720, 480, canvas(pier(SUNSET, (0.0, -0.02, 0.055))), 2),
}
for number, stone in enumerate(STONES):
    PICTURES[f"lighthouse-steps/{number}.jpg"] = Picture(
        480, 600, canvas(spiral(14 + 3 * number, *stone, turn=number * 0.9, tightness=0.4 + 0.06 * number)), 3)

# What stands for a post without a file of its own.
THUMBNAILS = {"tide-clock": Picture(160, 160, canvas(things.tide()), 70)}

# What a small picture stands for until the file is there: of its first part, but for those above.
WITH_THUMBNAIL = [
    "first-ferry", "herring-gull-portrait", "lighthouse-steps", "kiri-no-asa", "bread-at-five", "tide-clock",
    "net-menders", "qarib-saghir", "storm-wall", "salt-and-pepper", "all-wool", "starlings-over-the-mill",
    "bi-oneun-golmok", "subah-ki-chai", "crab-rescue", "ogen", "tin-whistle", "blue-hour", "nochnoy-port",
    "end-of-the-pier",
]
