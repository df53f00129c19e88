"""Pictures as formulas, which ffmpeg's `geq` works out for each pixel."""

# The pixel's place: 0 in the middle, 1 from the top to the bottom; and the second of the clip.
u, v, t = "ld(0)", "ld(1)", "T"


def rgb(colour):
    """A formula for each channel: of `#rrggbb`, or of what `ramp` gave."""
    if callable(colour):
        return [colour(channel) for channel in range(3)]
    return [str(int(colour[1 + 2 * channel:3 + 2 * channel], 16)) for channel in range(3)]


def ramp(at, *stops):
    """Colours that run into each other: `(0, "#rrggbb"), (0.4, …), …` along the formula `at`."""
    def formula(channel):
        values = [(place, rgb(colour)[channel]) for place, colour in stops]
        text = values[0][1]
        for (low, _), (high, value) in zip(values, values[1:]):
            text = f"lerp({text},{value},clip(({at}-({low}))/({high}-({low})),0,1))"
        return text
    return formula


def step(value, edge, width):
    """0 where the value is less than the edge, 1 where it is more, and soft between them."""
    return f"clip((({value})-({edge}))/({width})+0.5,0,1)"


def disc(x, y, radius, edge=0.004):
    return f"clip((({radius})-hypot({u}-({x}),{v}-({y})))/({edge})+0.5,0,1)"


def ellipse(x, y, width, height, edge=0.02):
    return f"clip((1-hypot(({u}-({x}))/({width}),({v}-({y}))/({height})))/({edge})+0.5,0,1)"


def box(left, top, right, bottom, edge=0.004):
    """The sides may be formulas: of `v` for slanting ones."""
    sides = (f"{u}-({left})", f"({right})-{u}", f"{v}-({top})", f"({bottom})-{v}")
    return "*".join(f"clip(({side})/({edge})+0.5,0,1)" for side in sides)


def glow(x, y, size):
    return f"exp(-hypot({u}-({x}),{v}-({y}))/({size}))"


class Canvas:
    """Colours painted one over the other. `let` keeps a value, in 3 to 9, for what follows."""

    def __init__(self, ground):
        self.steps = [[f"st(2,{text})" for text in rgb(ground)]]

    def let(self, number, formula):
        self.steps.append([f"st({number},{formula})"] * 3)
        return f"ld({number})"

    def over(self, colour, mask):
        self.steps.append([f"st(2,lerp(ld(2),{text},{mask}))" for text in rgb(colour)])
        return self

    def light(self, colour, amount):
        self.steps.append([f"st(2,ld(2)+({text})*({amount}))" for text in rgb(colour)])
        return self

    def graph(self, width, height, rate=25, alpha=None):
        """The source: frames of that size, `rate` a second."""
        place = "st(0,(X-W/2)/H);st(1,(Y-H/2)/H);"
        texts = [place + ";".join(parts) + ";clip(ld(2),0,255)" for parts in zip(*self.steps)]
        channels = [f"{name}='{text}'" for name, text in zip("rgb", texts)]
        if alpha:
            channels.append(f"a='{place}255*({alpha})'")
        layout = "gbrap" if alpha else "gbrp"
        return f"nullsrc=s={width}x{height}:r={rate},format={layout},geq={':'.join(channels)}"
