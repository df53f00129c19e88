"""Volumes: an older one, one shared by two containers, one of another owner, one that is read-only."""

import json
import pathlib
import re
import shutil
import sqlite3
import time

import images
from checks import require
from operation import PAGE, TOKEN
from server import Server

IMAGE = images.IMAGE
OLDER = pathlib.Path(__file__).parent / "volume-0002.sql"
ACCOUNT = 10001


def folder(engine, name, owner=ACCOUNT):
    """A new folder to mount as a volume."""
    path = engine.folder / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    shutil.chown(path, owner, owner)
    return path


def refuses_older(engine):
    """A volume of before the first release: refused, with the commit that brings it over, and left as it is."""
    old = folder(engine, "older")
    file = old / "lookahead.sqlite"
    database = sqlite3.connect(file)
    database.executescript(OLDER.read_text())
    before = list(database.iterdump())
    database.close()
    shutil.chown(file, ACCOUNT, ACCOUNT)
    for command in (["serve"], ["migrate", "up"], ["check"], ["export"]):
        status, output, errors = engine.once(IMAGE, *command, options=[f"--volume={old}:/data"])
        require(status != 0 and "migrate it with the program of commit" in errors, f"{command}: {output}{errors}")
    database = sqlite3.connect(file)
    after = list(database.iterdump())
    database.close()
    require(after == before, "it is not what it was")
    return errors.strip()


def two_on_one(engine):
    """Two servers on one volume: each sees what the other wrote, and both may write."""
    token = f"--env=LOOKAHEAD_WRITE_TOKEN={TOKEN}"
    with (Server(engine, IMAGE, "shared", token) as first,
          Server(engine, IMAGE, "shared", token, port=8081, name="second") as second):
        for number in range(20):
            writer, reader = (first, second) if number % 2 else (second, first)
            put(engine, writer, f"item-{number}")
            wait_for(reader, f"item-{number}")
    status, output, errors = engine.once(IMAGE, "check", options=["--volume=shared:/data"])
    require(status == 0, output + errors)
    return "20 writes, each seen by the other; " + output.strip()


def put(engine, server, name):
    record = json.dumps({"type": "text", "feeds": [{"name": "shared"}]})
    status, body, _ = server.get(
        f"/v1/items/{name}", "--request", "PUT", "--header", f"Authorization: Bearer {TOKEN}",
        "--header", "Content-Type: application/json", "--data", record)
    require(status == 201, f"status {status}: {body}")


def wait_for(server, name):
    end = time.monotonic() + 5
    while server.get(f"/v1/items/{name}")[0] != 200:
        require(time.monotonic() < end, f"{name} is not seen by the other container")


def backed_up(engine):
    """A backup in the running container; restored not while a server uses the volume, but after."""
    restore = ("restore", "--overwrite", "/data/backup.sqlite")
    with Server(engine, IMAGE, "kept", f"--env=LOOKAHEAD_WRITE_TOKEN={TOKEN}") as server:
        put(engine, server, "before")
        status, output = server.execute("lookahead", "backup", "/data/backup.sqlite")
        require(status == 0, output)
        put(engine, server, "after")
        status, said, errors = engine.once(IMAGE, *restore, options=["--volume=kept:/data"])
        require(status == 1, f"restored beneath a server: {said}{errors}")
        require(server.get("/v1/items/after")[0] == 200, "what was written since is gone")
    status, said, second = engine.once(IMAGE, *restore, options=["--volume=kept:/data"])
    require(status == 0, said + second)
    with Server(engine, IMAGE, "kept") as server:
        require(server.get("/v1/items/before")[0] == 200, "what the backup had is not there")
        require(server.get("/v1/items/after")[0] == 404, "what came after the backup is there")
    return errors.strip()


def wrong_owner(engine):
    """A folder that is another's: it ends at once and says what cannot be written."""
    others = folder(engine, "others", owner=0)
    return refused(engine, f"--volume={others}:/data")


def read_only(engine):
    """A volume mounted read-only: likewise, with and without a database in it."""
    empty = folder(engine, "empty")
    refused(engine, f"--volume={empty}:/data:ro")
    full = folder(engine, "full")
    engine.once(IMAGE, "seed", options=[f"--volume={full}:/data"])
    before = (full / "lookahead.sqlite").read_bytes()
    words = refused(engine, f"--volume={full}:/data:ro")
    require((full / "lookahead.sqlite").read_bytes() == before, "the database has changed")
    return words


def refused(engine, volume):
    status, output, errors = engine.once(IMAGE, options=[volume])
    require(status == 1, f"status {status}: {output}{errors}")
    require("/data" in errors and re.search("written|owner|belongs|read-only", errors), errors)
    # Beside it, only that this machine may allow fewer open files than docker/README.md asks for.
    words = [line for line in errors.strip().splitlines() if "open files" not in line]
    require(len(words) == 1, errors)
    return words[0]


def new_volume(engine):
    """A new volume belongs to the image's account, whichever engine makes it."""
    engine.podman("volume", "create", "fresh")
    with Server(engine, IMAGE, "fresh") as server:
        require(server.get("/v1/feeds")[0] == 200, "the feeds of an empty database")
        require(server.get(PAGE)[0] == 404, "a feed that is not there")
    path = pathlib.Path(engine.inspect("volume", "fresh")["Mountpoint"])
    require(path.stat().st_uid == ACCOUNT, f"it belongs to {path.stat().st_uid}")


CHECKS = {
    "a new volume, without posts": new_volume,
    "an older volume": refuses_older,
    "two containers on one volume": two_on_one,
    "a backup, restored": backed_up,
    "a volume of another owner": wrong_owner,
    "a read-only volume": read_only,
}
