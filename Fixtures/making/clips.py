"""The videos: for each file its size and seconds, picture and sound, and what is special about it."""

import random

from canvas import Canvas, step, u, v
from scenes import DAWN, ferry, hills, interference, night, sea
from textures import automaton, coloured, julia, life, noise, still, to_and_fro, veil
import sounds
import things

H264 = ["-c:v", "libx264", "-preset", "slow", "-profile:v", "high", "-pix_fmt", "yuv420p"]
AAC = ["-c:a", "aac", "-ac", "1", "-b:a", "48k"]
FRONT = ["-movflags", "+faststart"]


class Clip:
    """`source` takes width, height and rate and gives ffmpeg's graph, which is as long as one likes; `finish` names
    a second pass, which changes the container alone."""

    def __init__(self, width, height, seconds, source, sound, quality, codec=H264, container=FRONT, rate=24,
                 sound_codec=AAC, finish=None, options=()):
        self.width, self.height, self.seconds = width, height, seconds
        self.source, self.sound, self.rate, self.finish = source, sound, rate, finish
        self.encoding = [*codec, "-crf", str(quality), *options, *(sound_codec if sound else []), *container]


def drawn(picture, frames, scale=2, again=to_and_fro):
    """A moving canvas: so many frames of it, a fraction of the size, which is what formulas take time for."""
    def graph(width, height, rate):
        small = picture.graph(width // scale, height // scale, rate)
        return again(f"{small},scale={width}:{height}:flags=bicubic", frames, rate)
    return graph


def round_and_round(graph, frames, rate):
    return f"{graph},trim=end_frame={frames},loop=loop=-1:size={frames},setpts=N/{rate}/TB"


def crossing(width, height, rate):
    """A ferry comes out of the fog."""
    water = drawn(sea(DAWN, horizon=0.06, sun=(0.08, -0.04, 0.05), pace=0.7), 30)(width, height, rate)
    key = "#00ff00"
    ship = still(ferry(Canvas(key), "0", "0.3", "0.42").graph(width // 2, width // 4, rate), rate)
    mist = noise(width, height, 41, cells=(5, 7), octaves=4, contrast=2, rate=rate, scroll=(0.0015, 0.0003))
    scene = (f"{water}[w];{ship},colorkey={key}:0.3:0.1[s];"
             "[w][s]overlay=x='W*(0.05+0.06*t)':y='H*0.563-h*0.3-H*0.002*sin(t*1.7)':format=gbrp")
    return veil(scene, mist, "#e9dfd8", width, height, rate, ",fade=t=out:st=1:d=8:alpha=1")


EMBERS = [(0, "#0c0405"), (0.2, "#5a0f08"), (0.45, "#c8380c"), (0.68, "#f79a1e"), (1, "#fff3b8")]


def fire(width, height, rate):
    """The oven, at five."""
    flames = noise(width, height, 51, cells=(5, 6), octaves=4, contrast=2.4, rate=rate, scroll=(0.001, 0.012))
    heat = Canvas("#000000").light("#ffffff", "clip(0.25+1.1*pow(Y/H,1.3)-0.7*pow(abs(X/W-0.5)*2,3),0,1)")
    return (f"{flames}[f];{still(heat.graph(width, height, rate), rate)},format=gray[h];[f][h]blend=all_mode=multiply,"
            f"{coloured(*EMBERS)}")


def storm(width, height, rate):
    """Clouds, and waves behind each other, each a strip that comes round again."""
    clouds = (f"{noise(width, height, 61, cells=(7, 6), octaves=5, contrast=2.2, rate=rate, scroll=(0.002, 0))},"
              f"{coloured((0, '#161d24'), (0.6, '#55636c'), (1, '#a9b4b6'))}")
    graph, chance = f"{clouds}[sky]", random.Random(17)
    behind = "sky"
    for number, colour in enumerate(["#5d6d74", "#465a66", "#304551", "#1f3441", "#11232e"]):
        turns = [chance.choice([1, 2]), chance.choice([2, 3]), 5 + number, 9 + number, 13 + number]
        ridge = "+".join(
            f"{(0.05 + 0.01 * number) / (1 + index) ** 1.7:.4f}*sin(2*PI*{count}*X/W+{chance.uniform(0, 6):.2f})"
            for index, count in enumerate(turns))
        crest = f"({v}-(-0.1+0.07*{number}+{ridge}))"
        wave = Canvas(colour).light("#dfe8ea", f"0.7*exp(-max({crest},0)/0.012)+0.12*exp(-max({crest},0)/0.08)")
        strip = still(wave.graph(width, height, rate, alpha=step(crest, "0", 0.006)), rate)
        rise = f"H*{0.012 + 0.007 * number:.3f}*sin({1.1 + 0.17 * number:.2f}*t+{number})"
        graph += (f";{strip},scroll=h={-0.0012 * (1 + number) if number % 2 else 0.001 * (1 + number)}[w{number}];"
                  f"[{behind}][w{number}]overlay=y='{rise}+h*0.03':format=gbrp[o{number}]")
        behind = f"o{number}"
    # What the waves leave open below when they rise.
    return f"{graph};[{behind}]crop=iw:ih*0.9:0:0,scale={width}:{height}:flags=bicubic"


def wool(width, height, rate):
    """Cells that grow into felt, eight steps a second."""
    cells = life(width // 4, height // 4, 5, "S12345/B3", 0.035, rate // 3, 1)
    return (f"{cells},fps={rate},tmix=frames=4,scale={width}:{height}:flags=bicubic,gblur=sigma=2"
            f",{coloured((0, '#5b3a4a'), (0.35, '#b5838d'), (0.7, '#e5c3b2'), (1, '#fff7ea'))}")


def starlings(width, height, rate):
    """Flocks before the dusk: cells that wander, seen as birds."""
    birds = (f"{life(width // 2, height // 2, 12, 'S23/B36', 0.07, rate, 30)},lut=c0='if(gt(val,200),255,val/4)'"
             f",scale={width}:{height}:flags=bilinear")
    dusk = hills([(0, "#2e2a5a"), (0.5, "#a8577e"), (1, "#ffb37a")], ["#3a2746", "#1f1730"], 23, first=0.3)
    flock = Canvas("#000000").light("#ffffff", f"clip(1.35-2.6*hypot({u}*0.6,{v}+0.02),0,1)")
    shape = still(flock.graph(width * 2, height * 2, rate), rate)
    return veil(
        still(dusk.graph(width, height, rate), rate),
        f"{birds},format=gray[b];{shape},format=gray,crop={width}:{height}:'(iw-ow)/2-iw*0.09*sin(t*0.7)'"
        f":'(ih-oh)/2-ih*0.06*sin(t*1.1)'[f];[b][f]blend=all_mode=multiply", "#130f20", width, height, rate)


def paint(width, height, rate):
    return (f"gradients=s={width}x{height}:r={rate}:seed=8:n=5:speed=0.02:type=spiral"
            ":c0=#0b6e8a:c1=#f4f1de:c2=#e07a5f:c3=#81b29a:c4=#f2cc8f")


def weaving(width, height, rate):
    """Each row of the cloth follows from the one before."""
    return (f"{automaton(width // 4, height // 4, 3, 90, rate)},scale={width}:{height}:flags=neighbor"
            f",{coloured((0, '#24304a'), (1, '#e3b76b'))}")


def whistle(width, height, rate):
    """A Julia set whose number goes round."""
    turning = julia(width // 2, height // 2, "-0.745+0.045*cos(T*0.7)", "0.135+0.05*sin(T*0.7)", 1.35, 40, rate)
    shades = coloured((0, "#1b1446"), (0.35, "#3a2f8f"), (0.5, "#c04a8b"), (0.68, "#f6a75c"), (0.85, "#fff0c9"),
                      (1, "#3fb8af"))
    return to_and_fro(f"{turning},{shades},scale={width}:{height}:flags=bicubic", 90, rate)


RAIN = things.drops([(0, "#3a4750"), (1, "#6d7f88")], 3, 14)
NET = things.net([(0, "#1f3b4d"), (1, "#6fa3a8")], "#f1e3c6", 8.0, 0.06)
SWIM = interference(4, [(0, "#17486b"), (0.5, "#4fa0b8"), (1, "#e4f6f4")], 5, 0.09)
NOTES = [0, 2, 4, 7, 9, 7, 4, 2, 4, None, 4, 7, 9, 12, 9, 7, 4, 7, 2, None, 0, 4, 7, 12, 14, 12, 9, 7, 9, None,
         7, 4, 2, 4, 2, 0, -3, 0, 0, None]

CLIPS = {
    "first-ferry/0.mp4": Clip(360, 640, 10, crossing, sounds.horn(10, 1, 6.2), 24, rate=15),
    # A fragment a second, so that it can be sent while it is made.
    "bread-at-five/0.mp4": Clip(
        360, 640, 8, fire, sounds.crackle(8), 32, rate=20, options=["-g", "20"],
        container=["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]),
    # The index is behind the data.
    "storm-wall/0.mp4": Clip(640, 360, 12, storm, sounds.surf(12, 0.6, 0.25), 29, rate=20, container=[]),
    "net-menders/1.mp4": Clip(480, 480, 3, drawn(NET, 30), sounds.surf(3), 30, container=[], rate=20),
    "all-wool/0.mp4": Clip(
        640, 360, 9, wool, sounds.hum(9, 110, 165, 220), 35,
        codec=["-c:v", "libx265", "-preset", "medium", "-tag:v", "hvc1", "-pix_fmt", "yuv420p", "-x265-params",
               "log-level=error:pools=2"]),
    "starlings-over-the-mill/0.webm": Clip(
        640, 360, 10, starlings, sounds.surf(10, 0.3, 0.4, "pink", 9), 45, container=[],
        codec=["-c:v", "libvpx-vp9", "-b:v", "0", "-deadline", "good", "-cpu-used", "3", "-row-mt", "1", "-pix_fmt",
               "yuv420p"],
        sound_codec=["-c:a", "libopus", "-ac", "1", "-b:a", "32k"]),
    "rain-on-the-roof/0.mp4": Clip(480, 480, 15, drawn(RAIN, 60, again=round_and_round), sounds.rain(15), 33, rate=20),
    "harbour-swim/3.mp4": Clip(432, 540, 2, drawn(SWIM, 20), sounds.surf(2, 0.5, 1), 31, rate=20),
    "ad-paint/0.mp4": Clip(480, 480, 6, paint, sounds.hum(6, 196, 247, 294), 26),
    # Stored on its side; a matrix says how to hold it.
    "crab-rescue/0.mp4": Clip(
        360, 640, 7, drawn(things.crab(), 52), sounds.surf(7, 0.4, 0.3, seed=4), 26, rate=15, finish="turned"),
    # Without sound.
    "loom/0.mp4": Clip(480, 480, 5, weaving, None, 30),
    # Its first picture is not its first frame: an edit list leaves out what stands before it.
    "tin-whistle/0.mp4": Clip(
        360, 640, 12, whistle, sounds.tune(13, NOTES), 37, rate=15, options=["-bf", "3", "-g", "250"], finish="trimmed"),
    "nochnoy-port/0.mp4": Clip(
        640, 360, 8, drawn(night(11, lamps=12), 24), sounds.surf(8, 0.3, 0.2, seed=5), 38, rate=12,
        codec=["-c:v", "libaom-av1", "-b:v", "0", "-cpu-used", "6", "-row-mt", "1", "-pix_fmt", "yuv420p"]),
}
