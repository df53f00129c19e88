"""Single things: a gull, a cup, a door, a kite."""

import math

from canvas import Canvas, box, disc, ellipse, glow, ramp, step, t, u, v


def gull():
    """From the side, looking as if nothing had happened."""
    canvas = Canvas(ramp(f"({v}+0.5)", (0, "#3f7fae"), (0.7, "#a9cfdc"), (1, "#dfe9e2")))
    canvas.over("#8f9aa3", ellipse(0.12, 0.56, 0.44, 0.34))
    canvas.over("#f3f3ee", ellipse(-0.04, 0.36, 0.21, 0.46))
    canvas.over("#f8f7f2", ellipse(-0.05, -0.1, 0.2, 0.185))
    canvas.over("#c9d0d3", f"0.6*{ellipse(0.08, 0.12, 0.12, 0.34, 0.9)}")
    beak = f"abs({v}+0.075+0.25*pow(clip(-{u}-0.2,0,1),2)*8)"
    length = f"clip((-{u}-0.17)/0.21,0,1)"
    canvas.over("#e9b23b", f"step0*{step(f'0.052*(1-pow({length},2.2))', beak, 0.005)}".replace(
        "step0", f"gt(-{u},0.2)*lt(-{u},0.385)"))
    canvas.over("#c8352b", ellipse(-0.335, -0.048, 0.018, 0.022, 0.2))
    canvas.over("#e9b23b", f"{disc(-0.115, -0.15, 0.038)}")
    canvas.over("#f1e8b8", f"{disc(-0.115, -0.15, 0.031)}").over("#15161a", disc(-0.118, -0.15, 0.018))
    canvas.over("#ffffff", disc(-0.124, -0.157, 0.005))
    # The brow makes the character.
    canvas.over("#9aa0a4", box(-0.165, f"-0.20+0.28*({u}+0.165)", -0.06, f"-0.185+0.28*({u}+0.165)"))
    return canvas


def cup(table, drink, foam, saucer="#f2efe8", swirl=7.0):
    """From above, on a table in the sun."""
    canvas = Canvas(ramp(f"({u}+{v}+0.8)/1.6", (0, table[0]), (1, table[1])))
    grain = f"sin({v}*70+4*sin({u}*6)+2*sin({v}*13))"
    canvas.light("#ffffff", f"0.018*{grain}")
    canvas.over("#1a1210", f"0.5*{disc(0.05, 0.06, 0.34, 0.12)}")
    canvas.over(saucer, disc(0, 0, 0.31)).over("#d9d4c8", f"{disc(0, 0, 0.25)}*0.6")
    canvas.over("#1a1210", f"0.35*{disc(0.03, 0.035, 0.2, 0.08)}")
    canvas.over(saucer, box(0.15, -0.035, 0.29, 0.035, 0.01)).over(saucer, disc(0, 0, 0.19))
    canvas.over("#c8c2b4", disc(0, 0, 0.172))
    radius = canvas.let(3, f"hypot({u},{v})")
    curl = canvas.let(4, f"0.5+0.5*sin(atan2({v},{u})*2+{radius}*{swirl * 9}-{t}*1.5+2*sin({radius}*30))")
    canvas.over(ramp(f"({curl}*(1-{radius}/0.2))", (0, drink), (1, foam)), disc(0, 0, 0.163))
    canvas.light("#ffffff", f"0.35*{glow(-0.06, -0.07, 0.03)}*{disc(0, 0, 0.16)}")
    return canvas


def glass():
    """A float of green glass, and where it is to be seen through: a canvas and its alpha."""
    canvas = Canvas("#0d3b34")
    radius = canvas.let(3, f"hypot({u},{v})/0.46")
    canvas.over(ramp(f"({v}+0.5)", (0, "#0f5f52"), (0.5, "#2fae8d"), (1, "#b9f0cf")), "1")
    canvas.over("#06302a", f"clip(pow({radius},5),0,1)*0.85")
    canvas.light("#e8fff2", f"0.9*{ellipse(-0.17, -0.22, 0.11, 0.06, 0.9)}+0.35*{ellipse(0.16, 0.25, 0.16, 0.05, 1)}")
    rope = f"pow(abs(sin(({u}+{v})*9+2*{u}*{v})),40)+pow(abs(sin(({u}-{v})*9-2*{u}*{v})),40)"
    canvas.over("#c9a66b", f"clip({rope},0,1)*0.9")
    alpha = f"{disc(0, 0, 0.46)}*clip(0.55+0.45*pow(hypot({u},{v})/0.46,2),0,1)"
    return canvas, alpha


def door():
    """One red door in a white wall."""
    canvas = Canvas(ramp(f"({u}+0.5)", (0, "#efe9dd"), (1, "#cfc6b8")))
    canvas.light("#ffffff", f"0.03*sin({u}*31+5*sin({v}*7))*sin({v}*43+3*sin({u}*11))")
    canvas.over("#8d8478", f"0.7*{box(-0.12, -0.22, 0.36, 0.43, 0.08)}")
    canvas.over("#5d564f", box(-0.2, -0.31, 0.2, 0.42)).over("#b3202a", box(-0.17, -0.28, 0.17, 0.42))
    for left, top, right, bottom in [(-0.13, -0.23, -0.02, 0.0), (0.02, -0.23, 0.13, 0.0),
                                     (-0.13, 0.06, -0.02, 0.36), (0.02, 0.06, 0.13, 0.36)]:
        canvas.over("#7d131d", box(left, top, right, bottom))
        canvas.over("#c8303a", box(left + 0.012, top + 0.012, right, bottom, 0.01))
    canvas.over("#e3b64a", disc(0.15, 0.03, 0.014)).over("#6f675f", box(-0.26, 0.42, 0.26, 0.46))
    canvas.over(ramp(f"({v}-0.4)*10", (0, "#9b9184"), (1, "#7f766b")), box(-2, 0.46, 2, 1))
    canvas.over("#2b2a3a", f"0.3*{step(f'{u}+0.55*{v}', 0.33, 0.02)}")
    return canvas


def kites(steps):
    """Kites that sway; `steps` frames make one round."""
    canvas = Canvas(ramp(f"floor(({v}+0.5)*6)/6", (0, "#4aa3df"), (1, "#cfeaf5")))
    turn = f"(2*PI*N/{steps})"
    for x, y, size, phase, colours in [
            (-0.42, -0.12, 0.15, 0.0, ("#e4572e", "#ffc914")), (0.12, -0.25, 0.12, 2.1, ("#2e4057", "#66d7d1")),
            (0.52, 0.02, 0.17, 4.0, ("#8e3b8a", "#f7b2d9"))]:
        left = canvas.let(3, f"{u}-({x}+0.035*sin({turn}+{phase}))")
        down = canvas.let(4, f"{v}-({y}+0.025*sin(2*{turn}+{phase}))")
        tail = f"lt(abs({left}-0.025*sin({down}*28+{turn}+{phase})),0.004)*gt({down},0)*lt({down},{size}*2.6)"
        canvas.over("#ffffff", tail)
        shape = f"lt(abs({left})*1.5+abs({down}+0.1*{size})*if(lt({down},0),1.5,1),{size})"
        canvas.over(colours[0], shape).over(colours[1], f"{shape}*gt({left}*{down},0)")
    return canvas.over("#e8d5a4", f"gt({v},0.40+0.02*sin({u}*7))").over("#3a8f6b", f"gt({v},0.45+0.01*sin({u}*23))")


def salt_and_pepper(steps):
    """Two cats, asleep; they turn."""
    canvas = Canvas("#d9c7ae")
    turn = f"(-2*PI*N/{steps})"
    x = canvas.let(3, f"{u}*cos({turn})-{v}*sin({turn})")
    y = canvas.let(4, f"{u}*sin({turn})+{v}*cos({turn})")
    radius = canvas.let(5, f"hypot({u},{v})")
    canvas.over("#b59f82", f"0.8*{disc(0.02, 0.03, 0.37, 0.06)}")
    upper, lower = f"hypot({x},{y}+0.17)", f"hypot({x},{y}-0.17)"
    black = canvas.let(6, f"if(lt({upper},0.17),1,if(lt({lower},0.17),0,lt({x},0)))")
    canvas.over("#f4efe6", disc(0, 0, 0.34)).over("#2a2728", f"{disc(0, 0, 0.34)}*{black}")
    canvas.over("#f4efe6", f"lt({upper},0.045)").over("#2a2728", f"lt({lower},0.045)")
    return canvas.light("#ffffff", f"0.05*sin({radius}*140)*lt({radius},0.34)")


def ladder():
    """It leans on nothing."""
    canvas = Canvas(ramp(f"({v}+0.5)", (0, "#16457c"), (0.6, "#7fb3d4"), (1, "#f3d9b8")))
    for x, y, size in [(-0.16, -0.2, 0.12), (0.14, -0.05, 0.16), (-0.05, 0.22, 0.2)]:
        for number in range(4):
            canvas.over("#fdf6ee", f"0.5*{ellipse(x + (number - 1.5) * size * 0.5, y, size * 0.5, size * 0.2, 0.9)}")
    width = canvas.let(3, f"0.045+0.075*({v}+0.5)")
    middle = canvas.let(4, f"0.02+0.03*{v}")
    rung = f"pow(abs(sin(14*log({v}+0.9)*1.35)),26)"
    canvas.over("#5b3a21", f"lt(abs({u}-{middle}),{width})*{rung}*gt({v},-0.42)")
    return canvas.over("#7a5130", f"lt(abs(abs({u}-{middle})-{width}),0.008+0.006*{v})*gt({v},-0.44)")


def crab():
    """It walks sideways."""
    canvas = Canvas(ramp(f"({v}+0.5)", (0, "#d8b98a"), (1, "#b8925f")))
    canvas.light("#ffffff", f"0.04*sin({u}*60+7*sin({v}*9))*sin({v}*71+5*sin({u}*8))")
    foam = canvas.let(3, f"-0.28+0.05*sin({u}*5+{t})+0.05*sin({t}*1.1)")
    canvas.over("#5fb3b3", f"{step(foam, v, 0.004)}").over("#f4fbf6", f"lt(abs({v}-{foam}),0.014)")
    # From one side to the other in three and a half seconds.
    x = canvas.let(4, f"0.08*sin(({t}-1.745)*0.9)")
    left = canvas.let(5, f"abs({u}-{x})")
    down = canvas.let(6, f"{v}-0.1-0.008*sin({t}*18)")
    canvas.over("#6b4a2c", f"0.5*clip((1-hypot({left}/0.2,({v}-0.2)/0.05))/0.4,0,1)")
    for number in range(3):
        knee = f"({down}-{0.01 + number * 0.045}-0.25*pow({left}-0.12,2)*8-0.012*sin({t}*18+{number * 2}))"
        canvas.over("#a8391f", f"lt(abs({knee}),0.011)*lt({left},0.23)")
    canvas.over("#c9482a", f"clip((1-hypot({left}/0.155,{down}/0.1))/0.02+0.5,0,1)")
    canvas.light("#ffb28a", f"0.4*clip(1-hypot({left}/0.12,({down}+0.05)/0.05),0,1)")
    canvas.over("#d9552f", f"lt(hypot({left}-0.19,({down}+0.13-0.012*sin({t}*7))*0.9),0.052)"
                f"*gt(hypot({left}-0.175,{down}+0.175),0.03)")
    canvas.over("#a8391f", f"lt(abs({left}-0.14-({down}+0.06)*-0.5),0.012)*lt(abs({down}+0.06),0.05)")
    canvas.over("#a8391f", f"lt(abs({left}-0.045),0.006)*lt(abs({down}+0.115),0.03)")
    return canvas.over("#ffffff", f"lt(hypot({left}-0.045,{down}+0.145),0.02)").over(
        "#16130f", f"lt(hypot({left}-0.045,{down}+0.145),0.011)")


def net(ground, cord, cells=9.0, sway=0.03, floats="#e8862e"):
    """Mesh that hangs and sways, with its floats."""
    canvas = Canvas(ramp(f"({v}+0.5)", *ground))
    x = canvas.let(3, f"{u}+{sway}*sin({v}*5+{t}*1.3)+0.02*sin({u}*9+{v}*3)")
    y = canvas.let(4, f"{v}+{sway}*sin({u}*4+{t})+0.16*{u}*{u}")
    for offset, tint in [(0.012, "#16181c"), (0, cord)]:
        mesh = (f"max(pow(abs(cos(({x}-{offset}+{y}-{offset})*{cells * math.pi / 2})),30),"
                f"pow(abs(cos(({x}-{y})*{cells * math.pi / 2})),30))")
        canvas.over(tint, f"clip({mesh}*1.4,0,{0.5 if offset else 1})")
    for number in range(7):
        place = (number - 3) * 0.24
        canvas.over(floats, f"clip((0.045-hypot({x}-{place:.3f},({y}+0.33)*1.4))/0.004,0,1)")
        canvas.light("#ffffff", f"0.5*clip(1-hypot({x}-{place - 0.012:.3f},{y}+0.342)/0.02,0,1)")
    return canvas


def letters(paper, ink, lines=11, tilt=0.06, seal=None):
    """Written pages; nobody can read the hand."""
    canvas = Canvas("#3b2a20")
    x = canvas.let(3, f"{u}+{tilt}*{v}")
    y = canvas.let(4, f"{v}-{tilt}*{u}")
    canvas.over("#1c130e", f"0.6*lt(abs({x}-0.015),0.57)*lt(abs({y}-0.02),0.41)")
    sheet = canvas.let(5, f"clip((0.56-abs({x}))/0.004,0,1)*clip((0.40-abs({y}))/0.004,0,1)")
    canvas.over(ramp(f"({v}+0.5+0.05*sin({u}*9))", *paper), sheet)
    row = canvas.let(6, f"({y}+0.33)*{lines / 0.66:.3f}")
    number = f"floor({row})"
    stroke = (f"abs(mod({row},1)-0.5-0.22*sin({x}*110+{number}*3+2*sin({x}*31+{number}))"
              f"*(0.4+0.6*abs(sin({x}*17+{number}*5))))")
    words = f"gt(sin({x}*23+{number}*7)+sin({x}*41-{number}*3),-0.9)*lt({x},0.36+0.1*sin({number}*9))*gt({x},-0.46)"
    canvas.over(ink, f"{sheet}*lt(abs({y}),0.33)*{words}*clip(1.25-{stroke}*11,0,0.85)")
    if seal:
        canvas.over(seal, disc(0.36, 0.27, 0.062, 0.01)).light("#ffffff", f"0.25*{disc(0.35, 0.255, 0.03, 0.03)}")
    return canvas


def envelope():
    canvas = Canvas("#4a352a")
    x, y = canvas.let(3, f"{u}-0.05*{v}"), canvas.let(4, f"{v}+0.05*{u}")
    paper = canvas.let(5, f"lt(abs({x}),0.5)*lt(abs({y}),0.34)")
    canvas.over("#231813", f"0.7*lt(abs({x}-0.02),0.5)*lt(abs({y}-0.025),0.34)").over("#e9dcbf", paper)
    flap = f"abs({y}+0.34-0.62*(0.5-abs({x})))"
    canvas.over("#a9977a", f"{paper}*clip(1-{flap}/0.006,0,1)")
    canvas.over("#d8c8a6", f"{paper}*lt({y},-0.34+0.62*(0.5-abs({x})))*0.5")
    canvas.over("#9c2230", f"clip((0.055-hypot({x},{y}+0.03))/0.004,0,1)")
    return canvas.light("#ffffff", f"0.3*clip(1-hypot({x}+0.015,{y}+0.045)/0.03,0,1)")


def rain(ground, lights, seed, slant=0.12):
    """Streaks of rain before lights that run."""
    canvas = Canvas(ramp(f"({v}+0.5)", *ground))
    for x, y, size, colour in lights:
        canvas.light(colour, f"0.9*{glow(x, y, size)}")
        canvas.light(colour, f"0.55*exp(-abs({u}-({x})+0.012*sin({v}*90+{t}*2))/{size * 0.5})"
                     f"*{step(v, y, 0.1)}*exp(-max({v}-({y}),0)/0.4)")
    for layer in range(3):
        scale, pace = 60 - 14 * layer, 1.6 + layer * 0.7
        lane = canvas.let(3, f"({u}+{slant}*{v})*{scale}")
        chance = canvas.let(4, f"mod(abs(sin(floor({lane})*12.9898+{seed + layer * 7})*43758.5453),1)")
        fall = canvas.let(5, f"mod({v}*{1.5 + layer * 0.2}+{chance}*7-{t}*{pace},1)")
        drop = f"pow({fall},14)*clip(1-abs(mod({lane},1)-0.5)*{5 - layer},0,1)*gt({chance},0.35)"
        canvas.light("#cfe0f0", f"{0.25 + 0.14 * layer}*{drop}")
    return canvas


def drops(ground, seed, count, round_seconds=3):
    """Rings where drops fall on tin, each at its places in turn; all begins anew with each round."""
    canvas = Canvas(ramp(f"({v}+0.5)", *ground))
    canvas.light("#ffffff", f"0.10*sin({u}*44)+0.05*sin({u}*88)")
    for number in range(count):
        falls = 2 + number % 4
        moment = f"({t}*{falls / round_seconds:.4f}+{number * 0.37:.2f})"
        when = canvas.let(3, f"mod({moment},1)")
        turn = canvas.let(5, f"mod(floor({moment}),{falls})")
        x = f"(mod(abs(sin({turn}*7.13+{number * 3.7 + seed:.1f})*917.3),1)-0.5)"
        y = f"(mod(abs(sin({turn}*5.77+{number * 8.1 + seed:.1f})*613.9),1)-0.5)"
        far = canvas.let(4, f"hypot({u}-{x},({v}-{y})*1.5)-0.16*{when}")
        canvas.light("#e6f3fa", f"0.55*(1-{when})*exp(-pow({far}/0.009,2))")
    return canvas


def islands():
    """Two islands and a ticket's worth of sun, in few colours."""
    canvas = Canvas(ramp(f"floor(({v}+0.5)*8)/8", (0, "#ffe8b0"), (0.6, "#ffb37a"), (1, "#ff8f6b")))
    canvas.over("#fff7df", disc(0.38, -0.12, 0.17))
    canvas.over("#2f6f8f", f"gt({v},0.12)").over("#3c86a6", f"gt({v},0.12)*lt(mod({v}*16+0.6*sin({u}*7),1),0.35)")
    for x, width, height, colour in [(-0.5, 0.42, 0.36, "#205072"), (0.25, 0.34, 0.24, "#1b4b5a")]:
        canvas.over(colour, f"lt({v},0.13)*gt({v},0.13-{height}*exp(-pow(({u}-({x}))/{width * 0.55},2))"
                    f"+0.02*sin({u}*19)+0.03)")
    return canvas.over("#fdfdf7", box(-0.09, 0.135, 0.02, 0.165)).over("#e4572e", box(-0.06, 0.1, -0.02, 0.136))


def horn():
    """Rings of sound from a horn, in few colours."""
    canvas = Canvas("#22223b")
    radius = canvas.let(3, f"hypot({u}+0.45,{v}-0.1)")
    canvas.over(ramp(f"floor({radius}*9)/11", (0, "#f2e9e4"), (0.5, "#9a8c98"), (1, "#22223b")),
                f"lt(mod({radius}*9,1),0.72)")
    return canvas.over("#c9ada7", disc(-0.45, 0.1, 0.1)).over("#4a4e69", disc(-0.45, 0.1, 0.06))


def tide():
    """The moon over a dial of water."""
    canvas = Canvas("#10203a").over("#f4ecd2", disc(0.12, -0.17, 0.13)).over("#10203a", disc(0.18, -0.2, 0.12))
    canvas.over("#2a6f97", f"{disc(0, 0, 0.42)}*gt({v},0.08+0.03*sin({u}*14))")
    return canvas.over("#a9d6e5", f"lt(abs(hypot({u},{v})-0.42),0.012)")
