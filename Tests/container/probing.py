"""What is known of media files: by the server alone, and then by the image with ffmpeg."""

import json
import re

import images
from checks import require
from content import megabytes
from running import wait_until
from server import Server

PAGE = "/rp/?feed=featured&limit=30"
VOLUME = "probed"


def media(server):
    """The files of the first page."""
    items = json.loads(server.get(PAGE)[1])["items"]
    return [part for item in items for part in item.get("media", [])]


def server_alone(engine):
    """The server finds out what it can of the fixtures, and serves them by their content."""
    status, _, errors = engine.once(images.IMAGE, "seed", options=[f"--volume={VOLUME}:/data"])
    require(status == 0, errors)
    with Server(engine, images.IMAGE, VOLUME) as server:
        require(wait_until(lambda: all("immutableUrl" in part for part in media(server)), 60, 0.5),
                f"not known: {[part for part in media(server) if 'immutableUrl' not in part]}")
        parts = media(server)
        for part in parts:
            status, _, fields = server.get(part["immutableUrl"], "--head")
            require(status == 200 and "immutable" in fields["cache-control"], f"{part}: {fields}")
        require(not any("placeholder" in part for part in parts), "placeholders, without ffmpeg")
        require("ffmpeg is not installed" in server.logs(), server.logs()[:500])
        require('state="broken"} 0' in server.get("/metrics")[1], "broken files")
    return f"{len(parts)} files"


def with_ffmpeg(engine):
    """The image with ffmpeg, beside a server that runs: placeholders, and the same run again changes nothing."""
    with Server(engine, images.IMAGE, VOLUME) as server:
        said = []
        for _ in range(2):
            status, output, errors = engine.once(
                images.PROBE, options=[f"--volume={VOLUME}:/data", "--tmpfs=/tmp"])
            require(status == 0, output + errors)
            said.append(output.strip().splitlines()[-1])
        require(re.match(r"[1-9]\d* probed", said[0]), said[0])
        require(said[1].startswith("0 probed, 0 recognized by content"), said[1])
        require(wait_until(lambda: any("placeholder" in part for part in media(server)), 10),
                "no placeholders")
        parts = [part for part in media(server) if part["mimeType"] != "image/svg+xml"]
        bare = [part["url"] for part in parts if "placeholder" not in part]
        require(not bare, f"no placeholders: {bare}")
    return said[0]


def size(engine):
    """How large the second image is."""
    return megabytes(engine.inspect("image", images.PROBE)["Size"])


CHECKS = {
    "media files, by the server alone": server_alone,
    "media files, by the image with ffmpeg": with_ffmpeg,
    "the size of the image with ffmpeg": size,
}
