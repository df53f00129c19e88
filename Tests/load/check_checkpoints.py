#!/usr/bin/env python3
"""Two servers on one database that bring its log in as often as they can, with writers on both, and
beside them a seed, a prune and a check, each again and again.

    check_checkpoints.py PROGRAM [SECONDS [SEED]]

SECONDS is 3600 by default: where SQLite loses a write in a race of a checkpoint with a commit, it does so
seldom. It ends early where something does not hold, and in good order at SIGINT or SIGTERM. Every
answered write has to be there at the end, `check` sound throughout, and every page of both servers
equal to that of one which is started then. Prints a line each minute. Exit status 0 where all held, 1 where
something did not; the database is kept then, and its folder named.
"""

import json
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from checks import Checks, require
from running import RunningServer, wait_until
from soak import writers
from soak.accounts import Accounts
from soak.beside import CheckLoop, PruneLoop, SeedLoop
from soak.client import Tally

OPTIONS = [
    "--checkpoint-interval-seconds", "1", "--wal-limit-bytes", "1048576", "--log-level", "notice",
    "--encoded-memory-bytes", "8388608",
]
WRITING = [writers.Editor] * 2 + [writers.Counter] * 2
LOOPS = [SeedLoop, PruneLoop, CheckLoop]
LINE_SECONDS = 60


class Checkpoints:
    def __init__(self, program, folder, seed):
        self.folder = folder
        self.seed = seed
        self.ended = threading.Event()
        self.servers = [self.server(program, f"server-{number}") for number in (1, 2)]
        self.database = self.servers[0].database
        self.program = program

    def server(self, program, name):
        place = self.folder / name
        place.mkdir()
        server = RunningServer(program, place, *OPTIONS)
        server.database = self.folder / "feed.sqlite"
        return server

    def prepare(self):
        source = self.folder / "counted.ndjson"
        source.write_text(json.dumps({"id": writers.Counter.shared_item, "type": "text"}) + "\n")
        self.servers[0].command("seed", str(source))
        for server in self.servers:
            server.start()

    def write(self, seconds):
        """All at once, until the time is over or something does not hold."""
        start = time.monotonic()
        self.tallies = [Tally(server, f"{self.seed}.{number}")
                        for number, server in enumerate(self.servers)]
        self.clients = []
        for tally in self.tallies:
            self.clients += tally.start(WRITING, first_number=len(self.clients))
        self.loops = [kind(self.tallies[0], self.database, self.seed) for kind in LOOPS]
        for loop in self.loops:
            loop.thread.start()
        self.most_log_bytes = 0
        next_line = start + LINE_SECONDS
        while time.monotonic() < start + seconds and not self.ended.is_set():
            self.ended.wait(0.25)
            self.most_log_bytes = max(self.most_log_bytes, self.log_bytes())
            if time.monotonic() >= next_line:
                print(f"  {self.line(time.monotonic() - start)}", flush=True)
                next_line += LINE_SECONDS
            if self.problems() or not all(server.is_running() for server in self.servers):
                break
        self.stop()
        line = self.line(time.monotonic() - start)
        require(not self.problems(), "\n".join([line, *self.problems()[:10]]))
        for loop in self.loops:
            require(loop.turns > 0, f"{type(loop).__name__} never came to an end; {line}")
        for server in self.servers:
            require(self.checkpoints(server) > 0, f"a server made no checkpoint; {line}")
        return line

    def stop(self):
        for tally in self.tallies:
            tally.stopped.set()
        for worker in self.clients + self.loops:
            worker.thread.join(timeout=300)
            require(not worker.thread.is_alive(), f"{type(worker).__name__} does not end")

    def problems(self):
        return [problem for tally in self.tallies for problem in tally.problems]

    def log_bytes(self):
        try:
            return pathlib.Path(f"{self.database}-wal").stat().st_size
        except FileNotFoundError:
            return 0

    def checkpoints(self, server):
        return sum(value for name, value in server.metrics().items()
                   if name.startswith("lookahead_sqlite_checkpoints_total"))

    def line(self, seconds):
        writes = sum(count for tally in self.tallies for what, count in tally.answers.items()
                     if what.split()[1][0] == "2" and what.split()[0] != "GET")
        counts = [f"{seconds:.0f} s", f"{writes} writes"]
        for server in self.servers:
            if server.is_running():
                counts.append(f"{self.checkpoints(server):.0f} checkpoints")
                counts.append(f"{server.resident_bytes() / 1e6:.0f} MB")
        counts += [f"{loop.turns} {type(loop).__name__}s" for loop in self.loops]
        return ", ".join(counts) + f", log {self.most_log_bytes / 1e6:.1f} MB at the most"

    def loops_hold(self):
        """What was seeded last is there, whole and in its order; of what passes, the newest."""
        seeding, pruning, checking = self.loops
        posts = pages(self.servers[0], "seeded")
        require([post["id"] for post in posts] == seeding.order, "the last ranking is not there")
        require({post["title"] for post in posts} == {seeding.title}, "the last seed is not whole")
        pruning.turn()
        last = seeding.turns * seeding.added
        newest = [f"passing-{number}" for number in range(last - 1, last - 1 - pruning.kept, -1)]
        wait_until(lambda: len(pages(self.servers[0], "passing")) == pruning.kept, 5)
        found = [post["id"] for post in pages(self.servers[0], "passing")]
        require(found == newest[:last], f"{len(found)} posts that pass: {found[:3]}")
        notes = ", ".join(sorted(checking.notes)[:3])
        return f"{len(posts)} seeded, {len(found)} that pass, {checking.backups} backups; {notes}"

    def pages_are_equal(self):
        """Both servers show what one shows that reads the database now."""
        fresh = self.server(self.program, "server-3")
        fresh.start()
        try:
            expected = everything(fresh)
            for number, server in enumerate(self.servers, 1):
                # It may take a refresh.
                wait_until(lambda: everything(server) == expected, 5)
                found = everything(server)
                different = [path for path in expected if found.get(path) != expected[path]]
                require(found.keys() == expected.keys() and not different,
                        f"server {number} has other pages: {different[:5]}")
            require(fresh.terminate() == 0, "status not 0")
        finally:
            if fresh.is_running():
                fresh.kill()
        return f"{len(expected)} answers of each"

    def account(self):
        """What was written through either server is in both."""
        found = Accounts(self.seed).settle(self.servers[1], self.clients)
        return found

    def check(self):
        return self.servers[0].command("check").splitlines()[-1].split("/")[-1]

    def end(self):
        for server in self.servers:
            status = server.terminate()
            require(status == 0, f"status {status}: {server.log.read_text()[-1000:]}")
        errors = [line for server in self.servers for line in server.log.read_text().splitlines()
                  if '"level":"error"' in line or '"level":"critical"' in line or line[:1] != "{"]
        require(not errors, "\n".join(errors[:5]))

    def kill(self):
        for server in self.servers:
            if server.is_running():
                server.kill()


def pages(server, feed):
    """The items of a feed."""
    path, items = f"/rp/?feed={feed}&limit=100", []
    while path:
        status, _, body = server.get(path)
        require(status == 200, f"{path}: {status}")
        page = json.loads(body)
        items += page["items"]
        path = page["paging"]["links"].get("next")
    return items


def everything(server):
    """Every page of every feed, and the feeds, as bytes by path."""
    found = {"/v1/feeds": server.get("/v1/feeds")[2]}
    for feed in json.loads(found["/v1/feeds"])["feeds"]:
        path = f"/rp/?feed={feed['name']}&limit=100"
        while path:
            found[path] = server.get(path)[2]
            path = json.loads(found[path])["paging"]["links"].get("next")
    return found


def main(program, seconds=3600, seed=None):
    seed = seed or random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    checks = Checks()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lookahead-checkpoints-"))
    run = Checkpoints(program, folder, seed)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: run.ended.set())
    try:
        run.prepare()
        checks.run(f"two servers, seed, prune and check for {seconds} s", run.write, seconds)
        checks.run("what was seeded and pruned last", run.loops_hold)
        checks.run("the pages of both, and of one that is started now", run.pages_are_equal)
        checks.run("all that was answered is there", run.account)
        checks.run("check beside the servers", run.check)
        checks.run("both end with status 0", run.end)
        checks.run("check after them", run.check)
    finally:
        run.kill()
    status = checks.status()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what was left lies in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
