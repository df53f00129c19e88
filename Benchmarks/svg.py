"""Draws charts as SVG: lines in panels and bars, readable on a light page and on a dark one."""

import math
from html import escape

STYLE = """
  svg { --ground: #ffffff; --ink: #1f2328; --faint: #d6dae0; --soft: #59636e;
        --c0: #0b5cad; --c1: #c2410c; --c2: #15803d; --c3: #7c3aed; --c4: #a16207; --c5: #be185d; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --faint: #2d343d; --soft: #9198a1;
          --c0: #58a6ff; --c1: #ff9a5c; --c2: #4ac26b; --c3: #b794f6; --c4: #e3b341;
          --c5: #f778ba; } }
  text { font: 12px system-ui, sans-serif; fill: var(--ink); }
  .title { font-size: 14px; font-weight: 600; }
  .soft { fill: var(--soft); }
  .grid { stroke: var(--faint); stroke-width: 1; }
"""
CHARACTER = 6.4
LABEL_HEIGHT = 15
# Figures that differ by no more than this stand on a linear axis that begins at 0.
LINEAR_RANGE = 10
GAP = 16


class Scale:
    """Where a figure lies between two places, on a linear or a logarithmic axis."""

    def __init__(self, values, start, end, is_log):
        self.is_log = is_log
        low, high = min(values), max(values)
        if is_log:
            low, high = whole_decades(low, high)
        else:
            low, high = 0, high * 1.08 or 1
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value):
        share = ((math.log(value / self.low) / math.log(self.high / self.low)) if self.is_log
                 else (value - self.low) / (self.high - self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self):
        if not self.is_log:
            step = nice_step(self.high / 4)
            return [step * i for i in range(int(self.high / step) + 1)]
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        factors = [1] if len(decades) > 3 else [1, 2, 5]
        ticks = [f * 10.0**d for d in decades for f in factors]
        return [t for t in ticks if self.low * 0.999 <= t <= self.high * 1.001]


def whole_decades(low, high):
    """The figures' range with a little room, ending at 1, 2 or 5 times a power of ten."""
    steps = [f * 10.0**d for d in range(-3, 10) for f in (1, 2, 5)]
    below = max((s for s in steps if s <= low * 1.0001), default=low)
    above = min((s for s in steps if s >= high * 0.9999), default=high)
    return (below, above) if above > below else (below, below * 10)


def nice_step(rough):
    power = 10 ** math.floor(math.log10(rough))
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough)


def short(value):
    """A figure as an axis has it: 20, 1.5 k, 3 M."""
    for size, unit in [(1e6, " M"), (1e3, " k")]:
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def text(x, y, words, anchor="start", kind="", style=""):
    kind = f' class="{kind}"' if kind else ""
    style = f' style="{style}"' if style else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}{style}>'
            f'{escape(words)}</text>')


def line(x1, y1, x2, y2):
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def document(width, height, parts, title):
    """A whole SVG file."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">',
        f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="var(--ground)"/>', *parts, "</svg>\n"])


class Panel:
    """Lines over an axis; each is named where it ends."""

    def __init__(self, title, x_name, series):
        """`series`: name, points (x, y) and whether the line is dashed."""
        self.title, self.x_name, self.series = title, x_name, series

    def draw(self, left, top, width, height):
        labels = max(len(name) for name, _, _ in self.series) * CHARACTER + 14
        right, bottom = left + width - labels, top + height - 40
        xs = [x for _, points, _ in self.series for x, _ in points]
        ys = [y for _, points, _ in self.series for _, y in points]
        x = Scale(xs, left + 46, right, is_log=True)
        y = Scale(ys, bottom, top + 34, is_log=max(ys) > LINEAR_RANGE * min(ys))
        parts = [text(left, top + 14, self.title, kind="title"),
                 text((left + 46 + right) / 2, bottom + 34, self.x_name, "middle", "soft")]
        for tick in y.ticks():
            parts += [line(left + 46, y(tick), right, y(tick)),
                      text(left + 40, y(tick) + 4, short(tick), "end", "soft")]
        for tick in sorted(set(xs)):
            parts.append(text(x(tick), bottom + 17, short(tick), "middle", "soft"))
        ends = []
        for number, (name, points, is_dashed) in enumerate(self.series):
            color = f"var(--c{number % 6})"
            dash = ' stroke-dasharray="5 4"' if is_dashed else ""
            path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
            parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2"{dash} '
                         f'points="{path}"/>')
            parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{color}"/>'
                      for a, b in points]
            ends.append((y(points[-1][1]), name, color))
        for place, name, color in spread(ends):
            parts.append(text(right + 9, place + 4, name, style=f"fill: {color}"))
        return parts


def spread(ends):
    """The names in the order of their lines' ends, far enough apart to be read."""
    placed = []
    for place, name, color in sorted(ends):
        if placed:
            place = max(place, placed[-1][0] + LABEL_HEIGHT)
        placed.append((place, name, color))
    return placed


def bars(title, unit, figures, width):
    """Horizontal bars on a logarithmic axis; `figures`: name, value, number of the colour."""
    labels = max(len(name) for name, _, _ in figures) * CHARACTER + 24
    top, height = 40, 26
    # The shortest bar is to be seen, too.
    values = [min(value for _, value, _ in figures) / 2, *(value for _, value, _ in figures)]
    x = Scale(values, labels, width - 60, is_log=True)
    bottom = top + height * len(figures) + 4
    parts = [text(12, 22, title, kind="title")]
    for tick in x.ticks():
        parts += [line(x(tick), top, x(tick), bottom),
                  text(x(tick), bottom + 17, short(tick), "middle", "soft")]
    for index, (name, value, color) in enumerate(figures):
        y = top + index * height + 4
        parts += [text(labels - 10, y + 14, name, "end"),
                  f'<rect x="{labels:.1f}" y="{y}" width="{x(value) - labels:.1f}" '
                  f'height="{height - 8}" rx="2" fill="var(--c{color})"/>',
                  text(x(value) + 6, y + 14, f"{value:,.1f}" if value < 100 else f"{value:,.0f}")]
    parts.append(text((labels + width - 60) / 2, bottom + 36, unit, "middle", "soft"))
    return document(width, bottom + 48, parts, title)


def panels(title, rows, width, height):
    """Panels in rows, each of that height."""
    parts = []
    for row_index, row in enumerate(rows):
        each = (width - 24) / len(row)
        for index, panel in enumerate(row):
            parts += panel.draw(
                12 + each * index, 10 + (height + GAP) * row_index, each - 8, height)
    return document(width, 10 + (height + GAP) * len(rows), parts, title)
