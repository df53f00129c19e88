"""What the records say of the files, written down from the files themselves."""

import json
import subprocess

# The folders of posts whose ids are no names of folders that one would like to type.
FOLDERS = {
    "霧の朝": "kiri-no-asa", "café-à-six-heures": "cafe-a-six-heures", "قارب-صغير": "qarib-saghir",
    "low tide": "low-tide", "walks/north-mole": "walks-north-mole", "salt+pepper": "salt-and-pepper",
    "100%-wool": "all-wool", "πρωινό": "proino", "비-오는-골목": "bi-oneun-golmok", "सुबह-की-चाय": "subah-ki-chai",
    "עוגן": "ogen", "Ночной-порт": "nochnoy-port",
}
TYPES = {
    ".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".avif": "image/avif", ".gif": "image/gif",
    ".mp4": "video/mp4", ".webm": "video/webm",
}


def write(fixtures):
    """Brings the media of the posts of `featured` up to date, in every feed that has them."""
    lines = (fixtures / "featured.ndjson").read_text().splitlines()
    posts = {post["id"] for post in map(json.loads, lines) if "id" in post}
    for feed in sorted(fixtures.glob("*.ndjson")):
        records = [json.loads(line) for line in feed.read_text().splitlines()]
        for record in records:
            if record.get("id") in posts:
                describe(record, fixtures / "media" / FOLDERS.get(record["id"], record["id"]))
        texts = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records)
        feed.write_text("".join(text + "\n" for text in texts))


def describe(post, folder):
    """The post's parts are the files of its folder that have numbers, in their order."""
    files = sorted(folder.glob("[0-9]*.*"), key=lambda path: int(path.stem))
    if len(files) != len(post.get("media", [])):
        raise RuntimeError(f"{folder} has {len(files)} parts, the post {len(post.get('media', []))}")
    if (folder / "thumbnail.webp").exists():
        post["thumbnail"] = f"/media/{folder.name}/thumbnail.webp"
    else:
        post.pop("thumbnail", None)
    if files:
        post["media"] = [part(path) for path in files]


def part(path):
    kind = TYPES[path.suffix].split("/")[0]
    found = {"kind": kind, "url": f"/media/{path.parent.name}/{path.name}", "mimeType": TYPES[path.suffix]}
    shown = webp_canvas(path) if path.suffix == ".webp" else None
    if shown:
        found["width"], found["height"] = shown
    else:
        found |= probe(path, is_video=kind == "video")
    return found | {"bytes": path.stat().st_size}


def probe(path, is_video):
    """Its size as it is shown, and of a video codec and length."""
    command = ["ffprobe", "-loglevel", "error", "-select_streams", "v:0", "-show_streams", "-show_format",
               "-of", "json", str(path)]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    stream = said["streams"][0]
    turns = [data["rotation"] for data in stream.get("side_data_list", []) if "rotation" in data]
    sides = [stream["width"], stream["height"]]
    if turns and turns[0] % 180:
        sides.reverse()
    found = {"codec": stream["codec_name"]} if is_video else {}
    found |= {"width": sides[0], "height": sides[1]}
    if is_video:
        found["durationMs"] = round(float(said["format"]["duration"]) * 1000)
    return found


def webp_canvas(path):
    """The size in the header of an extended WebP file (RFC 9649 section 2.7), of which ffmpeg does not read
    animations; None of a simple one."""
    head = path.read_bytes()[:30]
    if head[12:16] != b"VP8X":
        return None
    return tuple(1 + int.from_bytes(head[place:place + 3], "little") for place in (24, 27))
