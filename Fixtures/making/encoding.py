"""From sources to files, by ffmpeg and jpegtran."""

import pathlib
import shutil
import subprocess
import tempfile

from pictures import PICTURES, THUMBNAILS
from clips import CLIPS

PROGRAMS = {"ffmpeg": "ffmpeg", "ffprobe": "ffmpeg", "jpegtran": "libjpeg-turbo-progs"}
ENCODERS = ["libx264", "libx265", "libaom-av1", "libvpx-vp9", "libwebp", "libwebp_anim", "libopus", "aac"]
# The same bytes with the same release of ffmpeg: nothing of the run is written down.
EXACT = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"]
THUMBNAIL_WIDTH = 180
PROGRESSIVE = "end-of-the-pier/0.jpg"


def missing():
    """What has to be installed first, in words."""
    wanted = [f"{name} (Debian's {package})" for name, package in PROGRAMS.items() if not shutil.which(name)]
    if not wanted:
        listed = subprocess.run(["ffmpeg", "-hide_banner", "-encoders"], capture_output=True, text=True, check=True)
        known = {line.split()[1] for line in listed.stdout.splitlines() if len(line.split()) > 1}
        wanted = [f"an ffmpeg with {name}" for name in ENCODERS if name not in known]
    return wanted


def make(name, root):
    """Makes the file of that name beneath the folder, whole or not at all."""
    target = pathlib.Path(root) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=pathlib.Path(root).parent, prefix=".making-") as folder:
        draft = pathlib.Path(folder) / target.name
        if target.name == "thumbnail.webp":
            make_thumbnail(target.parent, draft)
        elif name in CLIPS:
            make_clip(CLIPS[name], draft)
        else:
            make_picture(PICTURES[name], draft, is_progressive=name == PROGRESSIVE)
        draft.replace(target)


def ffmpeg(*arguments):
    run("ffmpeg", "-hide_banner", "-loglevel", "error", "-y", *arguments)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-2000:]}")


def make_picture(picture, draft, is_progressive=False):
    width, height = picture.width * picture.fineness, picture.height * picture.fineness
    filters = f"scale={picture.width}:{picture.height}:flags=lanczos"
    quality = str(picture.quality)
    encoding = {
        ".jpg": ["-c:v", "mjpeg", "-huffman", "optimal", "-pix_fmt", "yuvj420p", "-q:v", quality],
        ".png": ["-c:v", "png", "-pix_fmt", "rgba" if picture.alpha else "rgb24", "-pred", "mixed"],
        ".webp": ["-c:v", "libwebp" if picture.frames == 1 else "libwebp_anim", "-quality", quality, "-loop", "0"],
        ".avif": ["-c:v", "libaom-av1", "-still-picture", "1", "-crf", quality, "-b:v", "0", "-cpu-used", "4",
                  "-pix_fmt", "yuv420p"],
        ".gif": ["-loop", "0"],
    }[draft.suffix]
    if draft.suffix == ".gif":
        # The palette is that of all frames: it waits for the last.
        filters += (f",trim=end_frame={picture.frames},split[a][b];[a]palettegen=max_colors=32[p]"
                    ";[b][p]paletteuse=dither=none")
    ffmpeg("-f", "lavfi", "-i", picture.source(width, height), "-frames:v", str(picture.frames), "-vf", filters,
           *EXACT, *encoding, str(draft))
    if is_progressive:
        plain = draft.with_suffix(".plain")
        draft.rename(plain)
        run("jpegtran", "-progressive", "-optimize", "-copy", "none", "-outfile", str(draft), str(plain))


def make_clip(clip, draft):
    sound = ["-f", "lavfi", "-i", clip.sound] if clip.sound else []
    source = clip.source(clip.width, clip.height, clip.rate)
    turned = ["-vf", "transpose=cclock"] if clip.finish == "turned" else []
    skipped_seconds = 0.5 if clip.finish == "trimmed" else 0
    ffmpeg("-f", "lavfi", "-i", source, *sound, "-t", str(clip.seconds + skipped_seconds), *turned, *EXACT,
           *clip.encoding, str(draft))
    if clip.finish == "turned":
        turn(draft, clip.width)
    if clip.finish == "trimmed":
        longer = draft.with_stem("longer")
        draft.rename(longer)
        ffmpeg("-ss", str(skipped_seconds), "-i", str(longer), "-t", str(clip.seconds), "-c", "copy", *EXACT,
               "-movflags", "+faststart", str(draft))


def turn(draft, width):
    """Has players hold the picture a quarter turn clockwise: the matrix in the first track's header (ISO/IEC
    14496-12 section 8.3.2), whose version 0 has it 40 bytes behind its name."""
    content = bytearray(draft.read_bytes())
    place = content.index(b"tkhd")
    if content[place + 4] != 0:
        raise RuntimeError("the track's header is of a version that is not known")
    matrix = [0, 0x10000, 0, -0x10000, 0, 0, width << 16, 0, 0x40000000]
    content[place + 44:place + 80] = b"".join(number.to_bytes(4, "big", signed=True) for number in matrix)
    draft.write_bytes(content)


def make_thumbnail(folder, draft):
    """Of a picture of its own, or of the first part's first moments."""
    if folder.name in THUMBNAILS:
        make_picture(THUMBNAILS[folder.name], draft)
        return
    first = next(path for path in sorted(folder.iterdir()) if path.stem == "0")
    if f"{folder.name}/{first.name}" in PICTURES:
        # Not from the file: ffmpeg does not read every animation that it writes.
        picture = PICTURES[f"{folder.name}/{first.name}"]
        source = ["-f", "lavfi", "-i", picture.source(picture.width, picture.height)]
    else:
        source = ["-ss", "1", "-i", str(first)]
    ffmpeg(*source, "-frames:v", "1", "-vf", f"scale={THUMBNAIL_WIDTH}:-2:flags=lanczos", *EXACT, "-c:v", "libwebp",
           "-quality", "60", str(draft))
