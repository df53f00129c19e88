#!/usr/bin/env python3
"""Runs other programs against and in front of a server of its own.

    PYTHONPATH=Tests/load check_peers.py PROGRAM

Prints a line for each. Exit status 0 where all hold, 1 where one does not. What a program is missing
for is skipped, and said so.
"""

import pathlib
import random
import shutil
import sys
import tempfile

import caches
import framing
import media_files
import players
from checks import Checks, Skipped, require
from curl import Curl
from running import RunningServer

STREAMS = 5000
# Each that waits for more costs the proxy's patience.
PROXY_STREAMS = 1000


def check_proxies(checks, server, folder, media):
    """Each proxy: as a cache where it is one, with all that passes through it, and as named."""
    kinds = [(caches.Nginx, True), (caches.Varnish, True), (caches.Caddy, False),
             (framing.PlainNginx, False)]
    for kind, is_cache in kinds:
        try:
            proxy = kind(server, folder)
            proxy.__enter__()
        except Skipped as reason:
            checks.run(kind.name, skip, reason)
            continue
        except Exception as error:
            checks.run(kind.name, fail, error)
            continue
        try:
            if not proxy.secure:
                checks.run(f"{kind.name}, streams of odd requests", framing.answers_find_back, proxy,
                           PROXY_STREAMS, random.randrange(1 << 32))
            if kind is framing.PlainNginx:
                continue
            if is_cache:
                checks.run(f"{kind.name}, a page in its cache", caches.page_is_cached, proxy)
            checks.run(f"{kind.name}, all the rest", caches.passes_the_rest, proxy, media)
            checks.run(f"{kind.name}, the client's address", caches.knows_the_client, proxy)
        finally:
            proxy.__exit__()


def ends_well(server):
    status = server.terminate()
    require(status == 0, f"status {status}")


def skip(reason):
    raise reason


def fail(error):
    raise error


def main(program):
    checks = Checks()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lookahead-peers-"))
    # nginx and Varnish read it with accounts of their own.
    folder.chmod(0o755)
    try:
        media = folder / "media"
        media_files.make(media)
        options = ["--cache-max-age-seconds", str(caches.MAX_AGE_SECONDS),
                   "--cache-stale-while-revalidate-seconds", "0",
                   "--trusted-proxies", "127.0.0.1"]
        with RunningServer(program, folder, *options, media=media) as server:
            if shutil.which("curl"):
                for name, check in Curl(server, folder, media).checks().items():
                    checks.run(name, check)
            else:
                checks.run("curl", skip, Skipped("there is no curl"))
            check_proxies(checks, server, folder, media)
            checks.run("h11, where requests begin and end", framing.agrees_with_h11, server, STREAMS,
                       random.randrange(1 << 32))
            checks.run("ffprobe", players.ffprobe_reads, server, media)
            checks.run("ffmpeg, -ss", players.ffmpeg_seeks, server, media)
            checks.run("chromium, a <video> that seeks", players.chromium_seeks, server, folder)
            checks.run("the server ends with status 0", ends_well, server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
