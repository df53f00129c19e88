"""Commands that are killed beside a server which goes on, and which clients write to meanwhile."""

import json
import random
import time

import strace
from checks import require
from commands import posts
from program import names
from running import RunningServer
from soak import writers
from soak.accounts import Accounts
from soak.client import Tally

OPTIONS = [
    "--log-level", "warning", "--checkpoint-interval-seconds", "1", "--wal-limit-bytes", "1048576",
]
CLIENTS = [writers.Editor] * 2 + [writers.Counter] * 2
POSTS = 300


class Beside:
    def __init__(self, program, folder, seed):
        self.program = program
        self.folder = folder
        self.seed = seed
        self.random = random.Random(f"{seed}.beside")
        self.server = RunningServer(program.path, folder, *OPTIONS)
        self.database = self.server.database
        self.records = folder / "records"
        self.kills = self.ended = 0

    def commands(self):
        """What is run, each time with other records to seed."""
        shift = self.random.randrange(5000)
        self.records.write_text(posts(POSTS, f"shift {shift}", lambda number: (number * shift) % 5000))
        return {
            "seed": ["--batch-records", 50, self.records],
            "prune": ["--feed", "ranked", "--keep-posts", 20],
            "vacuum": [],
            "backup": [self.folder / "backup.sqlite", "--overwrite"],
        }

    def run(self, name, arguments, before):
        status, output, errors = self.program.status(
            [name, "--database", self.database, *arguments], before)
        said = f"`{name}`: status {status}: {output.decode()[:300]}{errors[:300]}"
        require(status in (0, -9), said)
        return status

    def record(self):
        """The calls of each command beside a server."""
        trace = self.folder / "trace"
        calls = {}
        for name, arguments in self.commands().items():
            require(self.run(name, arguments, strace.recording(trace)) == 0, f"`{name}` was killed")
            calls[name] = strace.calls(trace, self.folder)
        trace.unlink()
        return calls

    def check(self, seconds):
        counted = {"id": writers.Counter.shared_item, "type": "text"}
        self.records.write_text(json.dumps(counted) + "\n")
        self.program.run("seed", "--database", self.database, self.records)
        self.server.start()
        calls = self.record()
        tally = Tally(self.server, self.seed)
        clients = tally.start(CLIENTS)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not tally.problems:
            for name, arguments in self.commands().items():
                kind = self.random.choice(sorted({call.kind for call in calls[name]}))
                call = self.random.choice([call for call in calls[name] if call.kind == kind])
                if self.run(name, arguments, strace.killing(call)) == 0:
                    self.ended += 1
                else:
                    self.kills += 1
        tally.stopped.set()
        for client in clients:
            client.thread.join(timeout=70)
            require(not client.thread.is_alive(), f"{client.name} still waits for an answer")
        require(not tally.problems, "\n".join(tally.problems[:10]))
        found = Accounts(self.seed).settle(self.server, clients)
        self.program.check(self.database)
        for name, arguments in self.commands().items():
            require(self.run(name, arguments, []) == 0, f"`{name}` after the kills")
        require(self.server.terminate() == 0, "the server's status is not 0")
        self.program.check(self.database)
        self.look_at_files()
        return f"{self.kills} kills, {self.ended} ended before; {found}"

    def look_at_files(self):
        """The backup is whole, and nothing else is left."""
        require(self.program.backup_content(self.folder / "backup.sqlite", self.folder / "tried"),
                "there is no backup")
        unknown = names(self.folder) - {
            "feed.sqlite", "feed.sqlite-wal", "feed.sqlite-shm", "backup.sqlite", "records",
            "server.log"}
        unknown = {name for name in unknown if not name.startswith("tried")}
        require(not unknown, f"files are left: {sorted(unknown)}")


def check(program, folder, seed, seconds):
    place = folder / "beside"
    place.mkdir()
    beside = Beside(program, place, seed)
    try:
        return beside.check(seconds)
    finally:
        if beside.server.is_running():
            beside.server.kill()
