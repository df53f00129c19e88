"""Sounds, as ffmpeg's sources make them: mono, 48 kHz."""

RATE = 48000


def surf(seconds, level=0.5, swell=0.12, colour="brown", seed=1):
    """Waves that come and go."""
    return (f"anoisesrc=d={seconds}:r={RATE}:c={colour}:a={level}:seed={seed}"
            f",tremolo=f={swell}:d=0.7,lowpass=f=1800")


def rain(seconds, seed=7):
    return f"anoisesrc=d={seconds}:r={RATE}:c=pink:a=0.25:seed={seed},highpass=f=900,tremolo=f=7:d=0.15"


def horn(seconds, *starts):
    """A fog horn at these seconds, two and a half each, over the sea."""
    notes = "+".join(
        f"between(t,{start},{start + 2.5})*min(1,4*(t-{start}))*min(1,3*({start + 2.5}-t))" for start in starts)
    tones = "0.30*sin(2*PI*98*t)+0.18*sin(2*PI*196*t)+0.12*sin(2*PI*147*t)+0.05*sin(2*PI*392*t)"
    return f"aevalsrc='({notes})*({tones})+0.02*(random(0)-0.5)':d={seconds}:s={RATE},aecho=0.8:0.6:180:0.3"


def tune(seconds, notes, beat=0.3, level=0.3):
    """A whistle's: `notes` are semitones over D, None is a rest; breath and vibrato included."""
    parts = []
    for number, note in enumerate(notes):
        start, end = number * beat, (number + 1) * beat
        if note is None or start >= seconds:
            continue
        pitch = 587.33 * 2 ** (note / 12)
        shape = f"between(t,{start:.2f},{end:.2f})*min(1,25*(t-{start:.2f}))*min(1,18*({end:.2f}-t))"
        wave = f"sin(2*PI*{pitch:.2f}*t+0.9*sin(2*PI*5.5*t))+0.22*sin(4*PI*{pitch:.2f}*t)"
        parts.append(f"{shape}*({wave})")
    return f"aevalsrc='{level}*({'+'.join(parts)})+0.004*(random(0)-0.5)':d={seconds}:s={RATE},aecho=0.7:0.5:90:0.25"


def crackle(seconds, seed=3):
    """A fire."""
    return (f"anoisesrc=d={seconds}:r={RATE}:c=brown:a=0.4:seed={seed},tremolo=f=3:d=0.4,highpass=f=60"
            ",tremolo=f=11:d=0.3")


def hum(seconds, *pitches):
    """A chord that swells."""
    tones = "+".join(f"sin(2*PI*{pitch}*t+{number})" for number, pitch in enumerate(pitches))
    return (f"aevalsrc='0.5/{len(pitches)}*({tones})*(0.6+0.4*sin(2*PI*t/{seconds}-1.57))':d={seconds}:s={RATE}"
            ",lowpass=f=2400")
