"""How many bytes a client fetches before a video shows its first frame, and how often that fails, by the rule
that it fetches by: starts.py PROGRAM [--write] [FILE|FOLDER …].

The decoder judges: ffmpeg gets the bytes that were fetched, each in its place, and nothing else; a start has
not failed if it decodes the same first picture from them, and the same sound of that moment, as from the whole
file. Without arguments, the videos of Fixtures/media and those of ../shared/data/media, where they are.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "media.md"
BEGIN = "<!-- script/compare-starts --write: begin -->"
END = "<!-- script/compare-starts --write: end -->"
SUFFIXES = {".mp4", ".mov", ".webm", ".mkv"}
NAMES = ["50 KB", "200 KB", "512 KB", "2 s of mean", "hint"]


def decoded(path):
    """What ffmpeg decodes: (is it a picture, when in seconds, hash). Packets that are not there as a whole are
    thrown away, no frame is invented and none is moved to another time."""
    out = subprocess.run(
        ["ffmpeg", "-v", "quiet", "-nostdin", "-timelimit", "60", "-fflags", "+discardcorrupt", "-copyts",
         "-i", path, "-vsync", "passthrough", "-enc_time_base", "-1", "-map", "0:V:0?", "-map", "0:a:0?",
         "-c:a", "pcm_s16le", "-f", "framemd5", "-"],
        capture_output=True, text=True, timeout=120).stdout
    ticks, pictures, frames = {}, set(), []
    for line in out.splitlines():
        fields = line.replace(",", " ").replace(":", " ").split()
        if line.startswith("#tb"):
            over, under = fields[-1].split("/")
            ticks[fields[1]] = int(over) / int(under)
        elif line.startswith("#media_type") and fields[2] == "video":
            pictures.add(fields[1])
        elif not line.startswith("#") and len(fields) >= 6:
            frames.append((fields[0] in pictures, float(fields[2]) * ticks.get(fields[0], 0), fields[5]))
    return frames


def first_moment(frames):
    """The first picture, and the sound of that moment."""
    picture = min((frame for frame in frames if frame[0]), key=lambda frame: frame[1])
    sounds = [frame for frame in frames if not frame[0] and frame[1] <= picture[1]]
    return {picture} | ({max(sounds, key=lambda frame: frame[1])} if sounds else set())


def rules(truth, size):
    """What each rule fetches: its ranges, first byte and the one behind the last."""
    start = truth["start"]
    needed = start.get("needed") or [[0, start["headBytes"] - 1]]
    mean = -(-2000 * size // truth["durationMs"])
    flat = [[0, min(count, size)] for count in (51_200, 204_800, 524_288, mean)]
    return dict(zip(NAMES, [[one] for one in flat] + [[[a, b + 1] for a, b in needed]]))


def starts(path, ranges, wanted, folder):
    """Whether the first moment is decoded of these ranges alone."""
    whole = path.read_bytes()
    cut = folder / ("cut" + path.suffix)
    with cut.open("wb") as file:
        for begin, end in ranges:
            file.seek(begin)
            file.write(whole[begin:end])
    return wanted <= set(decoded(cut))


def measure(program, path, folder):
    told = subprocess.run([program, "probe", path], capture_output=True, text=True, timeout=60)
    if told.returncode != 0:
        return None
    truth = json.loads(told.stdout)
    if truth["kind"] != "video" or "durationMs" not in truth:
        return None
    size = path.stat().st_size
    wanted = first_moment(decoded(path))
    row = {}
    for name, ranges in rules(truth, size).items():
        count = sum(end - begin for begin, end in ranges)
        row[name] = (count, starts(path, ranges, wanted, folder))
    return {"path": path, "bytes": size, "row": row}


def found(paths):
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in files if file.suffix in SUFFIXES)


def table(measured):
    lines = ["| video | bytes | " + " | ".join(NAMES) + " |", "|---|--:|" + "--:|" * len(NAMES)]

    def cell(count, is_started):
        return f"{count:,}".replace(",", " ") + ("" if is_started else " ✗")

    for one in measured:
        path = one["path"]
        name = path.name if path.stem != "0" and not path.stem.isdigit() else f"{path.parent.name}/{path.name}"
        cells = " | ".join(cell(*one["row"][rule]) for rule in NAMES)
        lines.append(f"| {name} | {cell(one['bytes'], True)} | {cells} |")
    sums = " | ".join(cell(sum(one["row"][rule][0] for one in measured), True) for rule in NAMES)
    failed = " | ".join(
        f"{sum(not one['row'][rule][1] for one in measured)} of {len(measured)}" for rule in NAMES)
    total = cell(sum(one["bytes"] for one in measured), True)
    return "\n".join(lines + [f"| **bytes in all** | {total} | {sums} |",
                              f"| **starts that fail** | | {failed} |"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true", help=f"write the table to {DOCUMENT.name}")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    usual = [ROOT.parent / "shared" / "data" / "media", ROOT / "Fixtures" / "media"]
    paths = options.paths or [path for path in usual if path.exists()]
    with tempfile.TemporaryDirectory() as folder:
        measured = [measure(options.program, path, pathlib.Path(folder)) for path in found(paths)]
    measured = [one for one in measured if one]
    if not measured:
        sys.exit("there is no video among them")
    text = table(measured)
    print(text)
    if options.write:
        document = DOCUMENT.read_text()
        before, rest = document.split(BEGIN)
        DOCUMENT.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
    if any(not one["row"]["hint"][1] for one in measured):
        sys.exit("a start by the hint fails")


if __name__ == "__main__":
    main()
