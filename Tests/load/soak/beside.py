"""Commands of the program that run again and again beside servers, each on a thread."""

import json
import random
import subprocess
import threading
import time

from running import environment

TIMEOUT_SECONDS = 300


class Loop:
    """Does `turn` until the tally says stop; `turns` counts them."""

    pause_seconds = 0.0

    def __init__(self, tally, database, seed):
        self.tally = tally
        self.program = tally.server.program
        self.database = str(database)
        self.random = random.Random(f"{seed}.{type(self).__name__}")
        self.turns = 0
        self.thread = threading.Thread(target=self.run, daemon=True)

    def turn(self):
        raise NotImplementedError

    def run(self):
        while not self.tally.stopped.is_set():
            try:
                self.turn()
                self.turns += 1
            except Exception as error:
                self.tally.problem(f"{type(self).__name__}: {type(error).__name__}: {error}")
            time.sleep(self.pause_seconds)

    def command(self, *arguments, input=None):
        """Runs a command of the program, which has to end well; its output."""
        # Whoever waits for the lock for so long has found a defect, and not a crowd.
        done = subprocess.run(
            [self.program, arguments[0], "--database", self.database,
             "--busy-timeout-milliseconds", "60000", *map(str, arguments[1:])],
            input=input, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, env=environment())
        if done.returncode != 0:
            raise RuntimeError(
                f"`{arguments[0]}`: status {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done.stdout.strip()


class SeedLoop(Loop):
    """Ranks the same posts anew, and adds some that `PruneLoop` lets go of."""

    ranked = [f"seeded-{number}" for number in range(300)]
    added = 20

    def turn(self):
        order = list(self.ranked)
        self.random.shuffle(order)
        title = f"seed {self.turns}"
        records = [
            {"id": id, "type": "text", "title": title, "feeds": [{"name": "seeded", "rank": rank}]}
            for rank, id in enumerate(order)]
        first = self.turns * self.added
        records += [
            {"id": f"passing-{number}", "type": "text", "title": title, "text": "x" * (number % 900),
             "publishedAt": time_of(number), "feeds": [{"name": "passing"}]}
            for number in range(first, first + self.added)]
        text = "".join(json.dumps(record) + "\n" for record in records)
        self.command("seed", "--batch-records", 50, "-", input=text)
        # What has to be there at the end.
        self.order, self.title = order, title


def time_of(number):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + number))


class PruneLoop(Loop):
    """Leaves the newest posts of the feed through which they pass."""

    pause_seconds = 0.5
    kept = 150

    def turn(self):
        if '"name":"passing"' not in self.feeds():
            return
        self.command("prune", "--feed", "passing", "--keep-posts", self.kept)

    def feeds(self):
        return self.tally.server.get("/v1/feeds")[2].decode().replace(" ", "")


class CheckLoop(Loop):
    """Checks the database, and now and then makes a backup, which checks the copy."""

    pause_seconds = 0.2

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.notes = set()
        self.backups = 0

    def turn(self):
        lines = self.command("check").splitlines()
        self.notes |= {line for line in lines[:-1]}
        if self.turns % 20 == 10:
            self.command("backup", "--overwrite", self.database + ".backup")
            self.backups += 1
