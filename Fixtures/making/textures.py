"""Pictures from noise, fractals and automata: a grey field first, then colours by its brightness. And how
layers and frames are put together."""

from canvas import ramp


def coloured(*stops):
    """A grey picture's colours: `(0, "#rrggbb")` for black to `(1, …)` for white."""
    formula = ramp("(val/255)", *stops)
    channels = ":".join(f"{name}='{formula(index)}'" for index, name in enumerate("rgb"))
    return f"format=gbrp,lutrgb={channels}"


def noise(width, height, seed, cells=(4, 3), octaves=5, contrast=2.2, rate=25, scroll=None):
    """Fractal noise: finer and fainter layers of smooth random spots. `scroll` moves each layer by so much of
    its size a frame, the finer ones less; it is mirrored, so that it comes round again without a seam."""
    layers = []
    for octave in range(octaves):
        across, down = (count << octave for count in cells)
        spots = f"color=gray:s={across}x{down}:r={rate},format=gray,noise=alls=100:all_seed={seed + octave}"
        grown = "zscale={}:{}:filter=bicubic,format=gray"
        if scroll:
            name = f"spots{octave}"
            layers.append(
                f"{spots},split[{name}a][{name}b];[{name}b]hflip[{name}c];[{name}a][{name}c]hstack"
                f",split[{name}d][{name}e];[{name}e]vflip[{name}f];[{name}d][{name}f]vstack"
                f",{grown.format(2 * width, 2 * height)}"
                f",scroll=h={scroll[0] / (1 + octave) / 2}:v={scroll[1] / (1 + octave) / 2}"
                f",crop={width}:{height}:0:0[noise{octave}]")
        else:
            layers.append(f"{spots},{grown.format(width, height)}[noise{octave}]")
    labels = "".join(f"[noise{octave}]" for octave in range(octaves))
    weights = " ".join(str(1 << octaves - octave) for octave in range(octaves))
    layers.append(f"{labels}mix=inputs={octaves}:weights='{weights}',format=gray"
                  f",lut=c0='clip((val-128)*{contrast}+128,0,255)'")
    return ";".join(layers)


def still(graph, rate):
    """A source's first frame, for as long as there is anything to see."""
    return f"{graph},trim=end_frame=1,loop=loop=-1:size=1,setpts=N/{rate}/TB"


def to_and_fro(graph, frames, rate):
    """So many frames forwards and then backwards, again and again."""
    return (f"{graph},trim=end_frame={frames},split[tf0][tf1];[tf1]reverse[tf2];[tf0][tf2]concat=n=2"
            f",loop=loop=-1:size={2 * frames},setpts=N/{rate}/TB")


def veil(scene, field, colour, width, height, rate=25, fade=""):
    """The scene seen through a colour that is as dense as the field is bright."""
    return (f"{scene}[veil0];{field},format=gray[veil1];color={colour}:s={width}x{height}:r={rate}[veil2];"
            f"[veil2][veil1]alphamerge{fade}[veil3];[veil0][veil3]overlay=format=gbrp:shortest=0")


def julia(width, height, real, imaginary, zoom=1.5, turns=48, rate=25):
    """The Julia set of z² + c, by how soon z escapes; `real` and `imaginary` may move with T."""
    return (
        f"nullsrc=s={width}x{height}:r={rate},format=gray,geq=lum='"
        f"st(0,(X-W/2)/H*2*{zoom});st(1,(Y-H/2)/H*2*{zoom});st(2,0);st(5,{real});st(6,{imaginary});"
        f"while(lt(ld(2),{turns})*lt(ld(0)*ld(0)+ld(1)*ld(1),64),"
        "st(3,ld(0)*ld(0)-ld(1)*ld(1)+ld(5));st(1,2*ld(0)*ld(1)+ld(6));st(0,ld(3));st(2,ld(2)+1));"
        "st(4,ld(2)+1-log(log(max(ld(0)*ld(0)+ld(1)*ld(1),1.5))/2/log(8))/log(2));"
        f"if(gte(ld(2),{turns}),0,255*pow(clip(ld(4)/{turns},0,1),0.6))'")


def life(width, height, seed, rule="S23/B3", ratio=0.3, rate=25, mold=10):
    """Cells that live and die, small ones: what dies fades."""
    return (f"life=s={width}x{height}:r={rate}:random_seed={seed}:rule={rule}:ratio={ratio}:mold={mold}"
            ":life_color=white:death_color=#404040:mold_color=black,format=gray")


def automaton(width, height, seed, rule, rate=25):
    """Wolfram's elementary cellular automaton, a row a frame."""
    return (f"cellauto=s={width}x{height}:r={rate}:rule={rule}:random_seed={seed}:random_fill_ratio=0.02"
            ":scroll=1,format=gray")
