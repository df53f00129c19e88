"""A server that is killed at its n-th system calls while clients write, import, and backups are made."""

import json
import random
import time

import strace
from checks import require
from program import names, size
from running import RunningServer
from soak import writers
from soak.accounts import Accounts
from soak.client import Tally

BATCH_RECORDS = 100
RECORDING_SECONDS = 3
# A server that does not come to the call in this time is killed then.
ROUND_SECONDS = 5
BACKUPS_KEPT = 2
# Everything that may change, and small enough that all of it happens all the time.
OPTIONS = [
    "--log-level", "warning", "--batch-records", str(BATCH_RECORDS),
    "--checkpoint-interval-seconds", "1", "--wal-limit-bytes", "1048576",
    "--backup-interval-seconds", "1", "--backups-kept", str(BACKUPS_KEPT),
]


class Loader(writers.Client):
    """Imports the same ids again and again with another title; `title` is the last answered one."""

    ids = [f"loaded-{number:04}" for number in range(500)]
    rounds = 0

    def prepare(self):
        self.title = None
        self.trying = None

    def turn(self):
        Loader.rounds += 1
        self.trying = f"load {Loader.rounds}"
        lines = [
            json.dumps({"id": id, "type": "text", "title": self.trying, "feeds": [{"name": "loads"}]})
            for id in self.ids]
        body = ("\n".join(lines) + "\n").encode()
        self.ask("POST", "/v1/import", {200}, writers.RECORD_FIELDS, body)
        self.title = self.trying


CLIENTS = [writers.Editor] * 2 + [writers.Counter] * 2 + [Loader]


class Serving:
    def __init__(self, program, folder, seed):
        self.program = program
        self.folder = folder
        self.seed = seed
        self.random = random.Random(f"{seed}.serve")
        self.backups = folder / "backups"
        self.backups.mkdir()
        self.server = RunningServer(
            program.path, folder, *OPTIONS, "--backup-folder", str(self.backups))
        # In every other round it goes on, and is the one that is asked afterwards.
        (folder / "companion").mkdir()
        self.companion = RunningServer(program.path, folder / "companion", *OPTIONS)
        self.companion.database = self.server.database
        self.accounts = Accounts(seed)
        # The titles of what is imported, as they were after the last kill.
        self.loaded = [None] * len(Loader.ids)
        self.answers = 0
        self.rounds = 0

    def prepare(self):
        """A database with the item that is counted, and the calls of a server under writes."""
        source = self.folder / "counted.ndjson"
        source.write_text(json.dumps({"id": writers.Counter.shared_item, "type": "text"}) + "\n")
        self.program.run("seed", "--database", self.server.database, source)
        trace = self.folder / "trace"
        # The server is strace's child here, and ends as a server does.
        self.server.before = ["strace", "-D", *strace.recording(trace)[1:]]
        self.round(RECORDING_SECONDS)
        self.calls = strace.calls(trace, self.folder)
        require(self.calls, "the server makes no system calls")
        trace.unlink()

    def round(self, seconds):
        """Writes until the server is killed, and a look at all that it has afterwards; whether it was
        killed and did not live on."""
        self.rounds += 1
        if self.rounds % 2 == 0:
            self.companion.start()
        try:
            self.server.start()
        except RuntimeError:
            # Killed before it listened.
            self.server.process.wait(timeout=10)
            return self.look([], Tally(self.server, self.seed))
        tally = Tally(self.server, f"{self.seed}.{self.rounds}")
        clients = tally.start(CLIENTS)
        end = time.monotonic() + seconds
        while self.server.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        was_killed = self.server.process.poll() is not None
        tally.ending.set()
        self.server.kill()
        tally.stopped.set()
        for client in clients:
            client.thread.join(timeout=70)
            require(not client.thread.is_alive(), f"{client.name} still waits for an answer")
        self.look(clients, tally)
        return was_killed

    def look(self, clients, tally):
        """Compares what was answered with what the other server has, or the same one started again."""
        status = self.server.process.returncode
        require(status == -9, f"the server ended by itself, status {status}")
        unexpected = [text for text in tally.problems
                      if "no answer to" not in text and "not connected" not in text]
        require(not unexpected, "\n".join(unexpected))
        self.answers += sum(tally.answers.values())
        before, self.server.before = self.server.before, []
        asked = self.companion
        if not asked.is_running():
            asked = self.server
            asked.start()
        self.server.before = before
        self.accounts.settle(asked, clients)
        loaders = [client for client in clients if isinstance(client, Loader)]
        self.compare_loaded(asked, loaders[0] if loaders else None)
        asked.kill()
        self.program.check(self.server.database)
        self.look_at_backups()
        return True

    def compare_loaded(self, server, loader):
        """What was answered is there, and of the import that was cut short whole batches."""
        titles = []
        for id in Loader.ids:
            status, _, body = server.get(f"/v1/items/{id}")
            titles.append(json.loads(body)["title"] if status == 200 else None)
        expected = list(self.loaded)
        if loader and loader.title:
            expected = [loader.title] * len(titles)
        if loader and loader.trying != loader.title:
            newest = titles.count(loader.trying)
            require(newest % BATCH_RECORDS == 0, f"{newest} of the last import: no whole batches")
            expected[:newest] = [loader.trying] * newest
        require(titles == expected, f"imported: {set(titles)} in place of {set(expected)}")
        self.loaded = titles

    def look_at_backups(self):
        """What has a backup's name is one; what is left of others is bounded."""
        whole = [path for path in self.backups.iterdir() if path.name.endswith(".gz")]
        for backup in sorted(whole)[-1:]:
            content = self.program.backup_content(backup, self.folder / "tried")
            require(writers.Counter.shared_item.encode() in content, f"{backup.name} is empty")
        require(len(whole) <= BACKUPS_KEPT + 1, f"{len(whole)} backups")
        require(len(names(self.backups)) <= BACKUPS_KEPT + 1 + 4, f"{names(self.backups)}")
        others = {path.name for path in self.folder.iterdir()} - {
            "feed.sqlite", "feed.sqlite-wal", "feed.sqlite-shm", "feed.sqlite-runs", "backups", "companion", "tried",
            "trace", "server.log", "counted.ndjson"}
        require(not others, f"files of unknown names are left: {sorted(others)}")

    def check(self, seconds):
        self.prepare()
        order = strace.chosen(self.calls, self.random)
        end = time.monotonic() + seconds
        kills = tried = 0
        for call in order:
            if time.monotonic() > end:
                break
            self.server.before = strace.killing(call)
            try:
                kills += self.round(ROUND_SECONDS)
            except Exception as failure:
                failure.add_note(f"killed at {call.kind} {call.number}, {call.text}")
                print(f"  killed at {call.kind} {call.number}, {call.text}")
                raise
            tried += 1
        kinds = len({call.kind for call in order[:tried]})
        return (f"{kills} kills at {tried} of {len(order)} calls of {kinds} kinds, the others after "
                f"{ROUND_SECONDS} s; {self.answers} answers, {self.accounts.taps} taps, "
                f"{size(self.folder) >> 10} KiB at the end")


def check(program, folder, seed, seconds):
    place = folder / "serve"
    place.mkdir()
    serving = Serving(program, place, seed)
    try:
        return serving.check(seconds)
    finally:
        for server in (serving.server, serving.companion):
            if server.is_running():
                server.kill()
