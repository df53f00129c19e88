#!/usr/bin/env python3
"""Caches in front of servers of its own: docker/varnish and docker/nginx.conf, as they are.

    check_front.py PROGRAM [--short] [--seed N]

Prints a line for each check with what it found. Exit status 0 where all hold, 1 where one does not. The short
form takes three quarters of a minute, and races 500 times and not ten thousand.
"""

import argparse
import asyncio
import os
import pathlib
import random
import shutil
import sys
import tempfile

from fleet import Fleet, Server, free_port  # first: it finds the modules of Tests/load

import basics
import nginx
import races
import schedules
import viewers
from checks import Checks


def check_varnish(checks, program, folder, seed, short):
    records = [*races.records(), *viewers.records()]
    media = pathlib.Path(__file__).parents[2] / "Fixtures" / "media"
    with Fleet(program, folder, 2, "--media-root", str(media), "--media-probe-cpu-percent", "0",
               records=records) as fleet:
        for name, check, seconds in [
            ("pages are kept", basics.kept, 0), ("all else goes through", basics.let_through, 0),
            ("from a write to the fresh page", basics.purge_to_fresh, 4 if short else 20),
            ("one server dies", basics.one_server_dies, 2 if short else 5),
            ("all servers die", basics.all_servers_die, 2 if short else 5),
        ]:
            checks.run(name, lambda check=check, seconds=seconds: asyncio.run(check(fleet, seconds)))
        checks.run("viewers and increments", viewers.load, fleet, 3 if short else 20, seed)


def check_races(checks, program, folder, seed, count):
    """With each path to a server held up at random, and every change purged at once, and not again within the check: what
    Varnish does with an answer that was on its way has to do."""
    paths = []

    def through(port):
        path = races.SlowPath(port, seed + len(paths), held_milliseconds=10)
        path.own_port = free_port()
        paths.append(path)
        return path.own_port

    async def race(fleet):
        for path in paths:
            await path.start()
        found = races.Races(fleet, paths, count)
        await found.run(within_seconds=60 + count / 50)
        await races.failing_servers(fleet, paths)
        for path in paths:
            await path.stop()
        return found.result()

    fleet = Fleet(program, folder, 2, "--purge-interval-milliseconds", "0", "--purge-again-milliseconds", "60000",
                  records=list(races.records()), through=through)
    with fleet:
        checks.run(f"{count} races of purge and fill (seed {seed})", lambda: asyncio.run(race(fleet)))


def check_schedules(checks, program, folder, purges):
    name = "posts that come and go" if purges else "posts that come and go, of which no purge tells"
    with Fleet(program, folder, 2, purges=purges) as fleet:
        checks.run(name, lambda: asyncio.run(schedules.come_and_go(fleet, 0)))


def check_nginx(checks, program, folder):
    # As docker/compose.yaml has it.
    server = Server(program, folder, 1, "--cache-max-age-seconds", "1", "--public-url", "https://feeds.example")
    with server:
        try:
            with nginx.Nginx(folder, server.port) as front:
                for name, check in nginx.CHECKS:
                    checks.run(f"nginx {nginx.version()}: {name}", check, front, server)
        except nginx.Skipped as reason:
            print(f"skipped nginx: {reason}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=os.environ.get("LOOKAHEAD_RUN_SEED") or random.randrange(1 << 32))
    arguments = parser.parse_args()
    if not shutil.which("varnishd"):
        print("skipped: there is no varnishd")
        return 0
    checks = Checks()
    parts = ["varnish", "races", "nginx"]
    # Posts come and go within seconds: not beside much else. The second time pages run out by themselves.
    if not arguments.short:
        parts += ["schedules", "unpurged"]
    for part in parts:
        with tempfile.TemporaryDirectory(prefix=f"lookahead-front-{part}-") as folder:
            if part == "varnish":
                check_varnish(checks, arguments.program, folder, arguments.seed, arguments.short)
            elif part in ("schedules", "unpurged"):
                check_schedules(checks, arguments.program, folder, purges=part == "schedules")
            elif part == "races":
                check_races(checks, arguments.program, folder, arguments.seed, 500 if arguments.short else 10_000)
            else:
                check_nginx(checks, arguments.program, folder)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
