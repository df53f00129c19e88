#!/usr/bin/env python3
"""Holds a server of its own against what is meant to bring it down.

    check_load.py PROGRAM [SECONDS]

SECONDS is how long each mode of slowhttptest lasts, 30 by default. Prints a line for each check. Exit
status 0 where all hold, 1 where one does not.
"""

import pathlib
import sys
import tempfile

import floods
import slow
from checks import Checks
from running import RunningServer, wait_until


def media_folder(folder):
    """A folder with one file of a megabyte, larger than what the kernel takes at once."""
    media = pathlib.Path(folder) / "media"
    media.mkdir()
    (media / "short.mp4").write_bytes(b"\0\0\0\x18ftypisom\0\0\2\0isommp41" + bytes(1_000_000))
    return media


def check_slow_clients(checks, program, folder, seconds):
    with RunningServer(program, folder, media=media_folder(folder)) as server:
        for mode in slow.MODES:
            checks.run(f"slowhttptest, {mode}", slow.slowhttptest, server, mode, seconds)
            wait_until(lambda: server.open_descriptors() < 100, 30)
        for path in ["/rp/?feed=featured&limit=100", "/media/short.mp4"]:
            checks.run(
                f"unread pipelines of {path}", slow.unread_pipelines, server, path, 100,
                512 * 1024, 3)
        checks.run("the server ends with status 0", ends_well, server)


def ends_well(server):
    status = server.terminate()
    if status != 0:
        raise RuntimeError(f"status {status}")


def main(program, seconds=30):
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="lookahead-load-") as folder:
        check_slow_clients(checks, program, folder, seconds)
        for name, request in [("silent", None), ("served once", floods.REQUEST)]:
            checks.run(
                f"idle connections, {name}", floods.idle_connections, program, folder, 5000, request)
        checks.run("a silent listener among a thousand", floods.silent_listener, program, folder, 1000, 100)
        for count in [16, 200]:
            checks.run("a plan beside heavy documents", floods.heavy_documents, program, folder, count)
        checks.run("a hundred thousand files", floods.many_files, program, folder, 100_000)
        checks.run("connections past the limit", floods.too_many_connections, program, folder, 20_000)
        checks.run(
            "descriptors run out", floods.exhausted_descriptors, program, folder, 200, 300)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
