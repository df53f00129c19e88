"""Media to serve: of the shared folder where that is there, else made with ffmpeg."""

import os
import pathlib
import subprocess
import time

from checks import Skipped

SHARED = pathlib.Path(__file__).parents[3] / "shared/data/media"


def make(folder):
    """Puts `short.mp4`, with its index at its end, and `long.mp4`, some tens of MB, into the folder."""
    folder.mkdir()
    short = folder / "short.mp4"
    shared = SHARED / "bbb_moov_end.mp4"
    if shared.exists():
        short.write_bytes(shared.read_bytes())
    else:
        run_ffmpeg("-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=10",
                   "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", str(short))
    repeats = 30_000_000 // short.stat().st_size
    run_ffmpeg("-stream_loop", str(repeats), "-i", str(short), "-c", "copy",
               str(folder / "long.mp4"))
    # An hour old: a file that has just changed has a weak tag and no Last-Modified yet.
    for path in [short, folder / "long.mp4"]:
        os.utime(path, (time.time() - 3600,) * 2)


def run_ffmpeg(*arguments):
    """Its output; raises where it fails."""
    try:
        done = subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", *arguments], capture_output=True, timeout=60)
    except FileNotFoundError:
        raise Skipped("there is no ffmpeg")
    if done.returncode != 0 or done.stderr:
        raise RuntimeError("ffmpeg: " + done.stderr.decode())
    return done.stdout
