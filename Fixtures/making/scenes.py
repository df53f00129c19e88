"""What there is to see in a harbour town: water, hills, nights."""

import math
import random

from canvas import Canvas, box, disc, ellipse, glow, ramp, step, t, u, v

DAWN = [(0, "#26325c"), (0.45, "#8a6f92"), (0.8, "#f0a57c"), (1, "#fbd9a0")]
DAY = [(0, "#2f7fc4"), (0.6, "#8cc3e6"), (1, "#e4f1f2")]
SUNSET = [(0, "#2b1b4d"), (0.4, "#a33a63"), (0.75, "#f2764a"), (1, "#ffc869")]
BLUE = [(0, "#060d24"), (0.6, "#15306b"), (1, "#4d6fae")]
FOG = [(0, "#b9c4c9"), (0.6, "#d3dadb"), (1, "#e9ebe6")]


def sea(sky, horizon=0.08, sun=None, sunlight="#fff0c8", deep="#0c2738", glitter=90, pace=1.0):
    """Sky, sun and water to the horizon, whose ripples come closer."""
    canvas = Canvas(ramp(f"(({v}+0.5)/({horizon}+0.5))", *sky))
    if sun:
        canvas.light(sunlight, f"0.45*{glow(*sun[:2], 0.16)}").over(sunlight, disc(*sun, 0.006))
    near = canvas.let(3, f"max({v}-({horizon}),0.0008)")
    wave = canvas.let(
        4, f"sin(2.2/({near}+0.02)+5*sin({u}*0.9/({near}+0.03))+{t}*{pace}*2)"
        f"*sin(9*log({near}+0.01)+{u}*1.7/({near}+0.05)-{t}*{pace})")
    water = step(v, horizon, 0.003)
    canvas.over(
        lambda channel: ramp(f"({near}/{0.5 - horizon})", (0, sky[-1][1]), (0.25, sky[1][1]), (1, deep))(channel),
        f"{water}*0.95")
    canvas.light("#ffffff", f"{water}*0.05*{wave}")
    if sun:
        path = f"exp(-pow(({u}-({sun[0]}))/(0.035+0.32*{near}),2))"
        canvas.light(sunlight, f"{water}*{glitter / 100}*{path}*clip({wave}*1.5,0,1)")
    return canvas


def hills(sky, colours, seed, sun=None, sunlight="#fff3d6", first=-0.02):
    """Ridges behind each other, the nearest last."""
    chance = random.Random(seed)
    canvas = Canvas(ramp(f"({v}+0.5)/0.7", *sky))
    if sun:
        canvas.light(sunlight, f"0.5*{glow(*sun[:2], 0.2)}").over(sunlight, disc(*sun, 0.006))
    for index, colour in enumerate(colours):
        base = first + (0.46 - first) * (index / len(colours)) ** 1.15
        waves = "+".join(
            f"{0.075 / (1 + number) * chance.uniform(0.6, 1.2):.4f}"
            f"*sin({u}*{(2.1 + index * 0.5) * 1.9 ** number:.3f}+{chance.uniform(0, 6.3):.3f})"
            for number in range(5))
        ridge = canvas.let(3, f"{base:.4f}+{waves}")
        mist = f"clip(0.75-({v}-{ridge})*3,0,0.75)"
        canvas.over(colour, step(v, ridge, 0.004))
        canvas.over(sky[-1][1], f"{step(v, ridge, 0.004)}*{mist}*{0.5 - 0.4 * index / len(colours):.3f}")
    return canvas


def ferry(canvas, x, y, size, colour="#1b2230", lamp="#ffd889"):
    """Its silhouette on the water line `y`, and its lights."""
    def part(left, top, right, bottom):
        return box(*(f"{origin}+({side})*{size}" for origin, side in [(x, left), (y, top), (x, right), (y, bottom)]))
    slope = f"({v}-({y}))"
    canvas.over(colour, box(f"{x}-{size}+0.6*{slope}", f"{y}-0.22*{size}", f"{x}+{size}-1.2*{slope}", f"{y}+0.02*{size}"))
    for sides in [(-0.75, -0.42, 0.6, -0.2), (-0.5, -0.6, 0.35, -0.4), (-0.3, -0.85, -0.1, -0.5)]:
        canvas.over(colour, part(*sides))
    for window in range(9):
        canvas.over(lamp, part(-0.66 + window * 0.14, -0.36, -0.60 + window * 0.14, -0.29))
    return canvas


def boat(canvas, x, y, size, hull="#7a2f22", sail="#f4ead6"):
    """A hull, a mast and two sails."""
    canvas.over("#2b2622", box(f"{x}-0.012*{size}", f"{y}-1.5*{size}", f"{x}+0.012*{size}", y))
    height = f"(({y}-0.16*{size}-{v})/{size})"
    canvas.over(sail, box(f"{x}+0.04*{size}", f"{y}-1.4*{size}", f"{x}+{size}*(0.04+0.62*(1-{height}/1.25))",
                          f"{y}-0.18*{size}"))
    canvas.over(sail, box(f"{x}-{size}*(0.04+0.5*(1-{height}/1.05))", f"{y}-1.2*{size}", f"{x}-0.04*{size}",
                          f"{y}-0.18*{size}"))
    slope = f"0.5*({v}-({y}))"
    canvas.over(hull, box(f"{x}-0.7*{size}+{slope}", f"{y}-0.14*{size}", f"{x}+0.78*{size}-{slope}*2",
                          f"{y}+0.08*{size}"))
    return canvas


def night(seed, horizon=0.06, lamps=26, colours=("#ffd27a", "#ff9a4d", "#9fd8ff", "#ff5d5d", "#b8ffcf"), pace=1.0):
    """A quay by night, with its lights in the water."""
    chance = random.Random(seed)
    canvas = Canvas(ramp(f"({v}+0.5)/({horizon}+0.5)", *BLUE))
    near = canvas.let(3, f"max({v}-({horizon}),0.0008)")
    water = canvas.let(4, step(v, horizon, 0.003))
    canvas.over(ramp(f"{near}*2", (0, "#22407c"), (1, "#040a1c")), water)
    shake = canvas.let(5, f"0.010*sin({near}*160+3*sin({u}*9)+{t}*{pace}*3)*sin({near}*61-{t}*{pace}*2)")
    house = 0.0
    place = -0.95
    while place < 0.95:
        width, top = chance.uniform(0.05, 0.14), horizon - chance.uniform(0.03, 0.17)
        canvas.over("#0a1226", box(place, f"{top:.3f}", f"{place + width:.3f}", horizon))
        place += width + house
    for _ in range(lamps):
        x, y = chance.uniform(-0.9, 0.9), horizon - chance.uniform(0.008, 0.12)
        colour, size = chance.choice(colours), chance.uniform(0.004, 0.008)
        canvas.light(colour, f"0.9*exp(-hypot({u}-{x:.3f},{v}-{y:.3f})/{size:.4f})")
        reach = chance.uniform(0.1, 0.3)
        canvas.light(
            colour, f"{water}*0.5*exp(-abs({u}+{shake}-{x:.3f})/{size * 1.6:.4f})*exp(-{near}/{reach:.3f})")
    return canvas


def interference(seed, shades, sources=4, wavelength=0.05, pace=1.0):
    """Rings of several drops on one water."""
    chance = random.Random(seed)
    rings = "+".join(
        f"sin(hypot({u}-({chance.uniform(-0.5, 0.5):.3f}),({v}-({chance.uniform(-0.5, 0.5):.3f}))*1.5)"
        f"*{2 * math.pi / (wavelength * chance.uniform(0.7, 1.6)):.2f}-{t}*{pace}*4+{chance.uniform(0, 6):.2f})"
        for _ in range(sources))
    canvas = Canvas("#000000")
    height = canvas.let(3, f"({rings})/{sources}+0.35*sin({u}*3+{v}*4)")
    canvas.over(ramp(f"(0.5+0.5*{height})", *shades), "1")
    canvas.light("#ffffff", f"0.5*pow(clip({height},0,1),6)")
    return canvas


def pier(sky, sun, sunlight="#ffe0a0", planks="#4a382c"):
    """Planks that lead out to the sun."""
    canvas = sea(sky, sun=sun, sunlight=sunlight, deep="#1a2038")
    near = canvas.let(5, f"max({v}-0.075,0.001)")
    deck = canvas.let(6, f"{step(v, 0.085, 0.003)}*clip((0.9*{near}+0.012-abs({u}))/0.004+0.5,0,1)")
    canvas.over(planks, deck)
    gap = f"pow(abs(sin(1.05/({near}+0.012))),18)"
    canvas.over("#140f10", f"{deck}*(1-{gap})*0.0+{deck}*{gap}*0.75")
    canvas.light(sunlight, f"{deck}*0.25*exp(-pow({u}/(0.03+0.5*{near}),2))")
    for side in (-1, 1):
        for number in range(6):
            depth = 0.02 + 0.42 * (number / 5) ** 2
            x = side * (0.9 * depth + 0.012)
            height = 0.02 + 0.45 * depth
            canvas.over("#1d1618", box(f"{x - 0.03 * depth - 0.002:.4f}", f"{0.075 + depth - height:.4f}",
                                       f"{x + 0.03 * depth + 0.002:.4f}", f"{0.085 + depth:.4f}"))
    return canvas


def spiral(steps, stone, shade, light, turn=0.0, tightness=0.55):
    """Stairs that wind upwards, seen from below."""
    canvas = Canvas(stone)
    radius = canvas.let(3, f"max(hypot({u},{v}),0.004)")
    angle = canvas.let(4, f"atan2({v},{u})+{turn}")
    stair = canvas.let(5, f"mod({angle}/{2 * math.pi:.4f}*{steps}+log({radius})*{tightness * steps},1)")
    canvas.over(shade, f"0.85*{stair}")
    turns = 2.2 / (2 * math.pi * tightness)
    wall = canvas.let(6, f"mod(log({radius})*{turns:.4f}+{angle}/{2 * math.pi:.4f},1)")
    canvas.over(shade, f"0.7*pow({wall},3)")
    canvas.light(light, f"0.9*exp(-{radius}/0.11)+0.14*(1-{wall})")
    canvas.over("#0d0a0c", f"clip(pow({radius}/0.86,3),0,0.8)")
    return canvas


def dunes(light, shade, seed, sky=SUNSET, horizon=-0.22):
    """Wet sand with ripples and long shadows, to a strip of sky."""
    canvas = Canvas(ramp(f"(({v}+0.5)/({horizon}+0.5))", *sky))
    near = canvas.let(3, f"max({v}-({horizon}),0.002)")
    sand = step(v, horizon, 0.003)
    ripple = canvas.let(
        4, f"sin(4.2/({near}+0.06)+2.5*sin({u}*0.8/({near}+0.12)+{seed})+1.3*sin({u}*2.6/({near}+0.2)))")
    canvas.over(ramp(f"(0.5+0.5*{ripple})", (0, shade), (0.55, light), (1, sky[-1][1])), sand)
    canvas.light(sky[-1][1], f"{sand}*0.5*exp(-{near}/0.09)")
    for number, (x, y, size) in enumerate([(-0.42, -0.02, 0.035), (0.31, 0.1, 0.06), (-0.1, 0.26, 0.085)]):
        shadow = ellipse(f"{x}+{size}*3.2", f"{y}+{size}*0.28", f"{size}*3.6", f"{size}*0.28", 0.2)
        canvas.over(shade, f"0.6*{shadow}")
        canvas.over(["#57433f", "#3d3238", "#4a3a35"][number], ellipse(x, y, size, size * 0.72))
    return canvas
