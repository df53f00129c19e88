"""A server some of whose system calls fail, and the account of what it answered meanwhile."""

import http.client
import json
import random
import re
import shutil
import threading
import time
import uuid

from checks import Failed, require
from faults import Faults
from running import FIXTURES, RunningServer, TOKEN, wait_until

# Whoever waits so long for an answer has found a server that hangs, and not a machine that is busy.
ANSWER_SECONDS = 45
# A fault that did not come to be in this time is over.
FAULT_SECONDS = 3
BATCH_RECORDS = 20
OPTIONS = [
    "--log-level", "warning", "--batch-records", str(BATCH_RECORDS),
    "--checkpoint-interval-seconds", "1", "--wal-limit-bytes", "1048576",
    "--backup-interval-seconds", "1", "--backups-kept", "2",
]
COUNTED = "counted"
FEED = "watched"
MEDIA = "ad-paint/0.mp4"


class Unanswered(Exception):
    """The connection ended before an answer was there."""


class Client:
    """A thread that asks again and again, and keeps account of what it was answered."""

    def __init__(self, serving, number):
        self.serving = serving
        self.number = number
        self.random = random.Random(f"{serving.seed}.{number}")
        self.connection = None
        self.turns = 0

    def start(self):
        self.good_since = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.serving.stopped.is_set():
            was_over = self.serving.over.is_set()
            try:
                if self.turn() and was_over:
                    self.good_since.set()
            except Unanswered:
                pass
            except Exception as error:
                self.serving.problem(f"{type(self).__name__}: {type(error).__name__}: {error}")
            self.turns += 1
            time.sleep(0.002)
        self.disconnect()

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, method, path, document=None, body=None, fields=()):
        """Status and body. Whatever is refused is refused for a reason of the server's, as long as it is asked
        for what is there."""
        sent = {"Authorization": f"Bearer {TOKEN}", **dict(fields)}
        if document is not None:
            sent["Content-Type"] = "application/json"
            body = json.dumps(document)
        if self.connection is None or self.random.random() < 0.3:
            self.disconnect()
            self.connection = http.client.HTTPConnection(
                "127.0.0.1", self.serving.server.port, timeout=ANSWER_SECONDS)
        try:
            self.connection.request(method, path, body, sent)
            answer = self.connection.getresponse()
            content = answer.read()
        except TimeoutError:
            self.serving.problem(f"no answer to {method} {path} for {ANSWER_SECONDS} s")
            self.disconnect()
            raise Unanswered from None
        except (OSError, http.client.HTTPException):
            self.disconnect()
            raise Unanswered from None
        if answer.will_close:
            self.disconnect()
        self.serving.count(answer.status)
        if answer.status >= 500:
            document = json.loads(content)
            require(document["status"] == answer.status, f"{method} {path}: {content[:200]}")
        return answer.status, content

    def expect(self, holds, text):
        if not holds:
            self.serving.problem(f"{type(self).__name__}: {text}")


class Writer(Client):
    """Puts and deletes items of its own; `allowed` is what each may be by its answers."""

    ids = 12

    def __init__(self, serving, number):
        super().__init__(serving, number)
        self.allowed = {f"writer-{number}-{index}": {None} for index in range(self.ids)}
        self.revision = 0

    def path(self, id):
        return f"/v1/items/{id}"

    def turn(self):
        id = self.random.choice(list(self.allowed))
        if self.random.random() < 0.3:
            return self.delete(id)
        self.revision += 1
        title = f"{self.number}.{self.revision}"
        record = {"type": "text", "title": title, "text": title + "x" * self.random.randrange(3000),
                  "feeds": [{"name": FEED, "rank": self.random.randrange(500)}]}
        if not self.write("PUT", id, title, record, {201, 204}):
            return False
        return self.read(id) in (title, Ellipsis)

    def delete(self, id):
        gone = {404} if None in self.allowed[id] else set()
        return self.write("DELETE", id, None, None, {204} | gone)

    def write(self, method, id, title, record, allowed):
        """Whether it was taken."""
        before = self.allowed[id]
        self.allowed[id] = before | {title}
        status, content = self.ask(method, self.path(id), record)
        if status in allowed:
            self.allowed[id] = {title}
            return True
        self.expect(status >= 500, f"{method} {id}: {status} {content[:200]}, where {before} is there")
        return False

    def read(self, id):
        """The title; `...` where it could not be told."""
        status, content = self.ask("GET", self.path(id))
        if status >= 500:
            return ...
        item = json.loads(content) if status == 200 else {}
        title = item.get("title")
        self.expect(status in (200, 404) and title in self.allowed[id],
                    f"{id}: {status} {title}, and not one of {self.allowed[id]}")
        self.expect(item.get("text", "").startswith(title or ""), f"{id}: half of a write")
        return title

    def settle(self):
        """After a start without faults."""
        for id in self.allowed:
            found = self.read(id)
            require(found is not ..., f"{id} cannot be read")
            self.allowed[id] = {found}


class Counter(Client):
    """Increments that add up, with keys and without."""

    def __init__(self, serving, number):
        super().__init__(serving, number)
        self.least = self.most = 0
        self.keys = {}

    def turn(self):
        amount = self.random.randrange(1, 5)
        if self.random.random() < 0.5:
            self.most += amount
            taken = self.increment(amount)
            self.least += amount if taken else 0
            return taken
        key = str(uuid.UUID(int=self.random.getrandbits(128)))
        self.keys[key] = amount
        return self.again(key)

    def again(self, key):
        """Once or more, it counts once."""
        taken = self.increment(self.keys[key], {"Idempotency-Key": f'"{key}"'})
        if taken:
            amount = self.keys.pop(key)
            self.least, self.most = self.least + amount, self.most + amount
        return taken

    def increment(self, amount, fields=()):
        status, content = self.ask("POST", f"/v1/items/{COUNTED}/counters", {"taps": amount}, fields=fields)
        self.expect(status == 200 or status >= 500, f"{status} {content[:200]}")
        return status == 200

    def settle(self):
        for key in list(self.keys):
            require(self.again(key), "an increment is refused without a fault")
        status, content = self.ask("GET", f"/v1/items/{COUNTED}")
        require(status == 200, f"{COUNTED}: {status}")
        found = json.loads(content).get("counters", {}).get("taps", 0)
        require(self.least <= found <= self.most, f"{found} taps in place of {self.least} to {self.most}")
        self.least = self.most = found


class Importer(Client):
    """The same ids again and again with another title, in batches."""

    ids = [f"imported-{number:03}" for number in range(100)]

    def __init__(self, serving, number):
        super().__init__(serving, number)
        self.titles = [{None}] * len(self.ids)
        self.rounds = 0

    def turn(self):
        self.rounds += 1
        title = f"import {self.rounds}"
        lines = [json.dumps({"id": id, "type": "text", "title": title, "feeds": [{"name": "loads"}]})
                 for id in self.ids]
        before = self.titles
        self.titles = [titles | {title} for titles in before]
        status, content = self.ask(
            "POST", "/v1/import", body="\n".join(lines) + "\n", fields={"Content-Type": "application/x-ndjson"})
        self.expect(status == 200 or status >= 500, f"{status} {content[:200]}")
        if status != 200:
            return False
        counts = json.loads(content)
        self.expect(counts["refused"] == 0, f"{counts}")
        self.titles = [{title}] * len(self.ids)
        return True

    def settle(self):
        found = []
        for id in self.ids:
            status, content = self.ask("GET", f"/v1/items/{id}")
            require(status in (200, 404), f"{id}: {status}")
            found.append(json.loads(content)["title"] if status == 200 else None)
        for id, title, allowed in zip(self.ids, found, self.titles):
            require(title in allowed, f"{id}: {title}, and not one of {allowed}")
        for start in range(0, len(found), BATCH_RECORDS):
            batch = set(found[start:start + BATCH_RECORDS])
            require(len(batch) == 1, f"half of a batch: {batch}")
        self.titles = [{title} for title in found]


class Reader(Client):
    """Pages, items, files: each is right, or refused for a reason of the server's."""

    def turn(self):
        good = True
        for path in (f"/rp/?feed={FEED}&limit=50", "/v1/feeds", f"/v1/items/{COUNTED}", "/healthz", "/metrics"):
            status, content = self.ask("GET", path)
            self.expect(status == 200 or status >= 500, f"{path}: {status} {content[:200]}")
            if status == 200 and path != "/metrics" and path != "/healthz":
                json.loads(content)
            good = good and status == 200
        return self.play() and good

    def play(self):
        bytes_ = self.serving.media_bytes
        first = self.random.randrange(len(bytes_))
        last = min(len(bytes_) - 1, first + self.random.randrange(60_000))
        status, content = self.ask("GET", f"/media/{MEDIA}", fields={"Range": f"bytes={first}-{last}"})
        self.expect(status == 206 or status >= 500, f"media: {status} {content[:200]}")
        self.expect(status != 206 or content == bytes_[first:last + 1], "media: other bytes")
        return status == 206

    def settle(self):
        require(self.turn(), "not everything can be read")


class Serving:
    """A server, its clients, and one fault after the other."""

    name = "serve, under reads and writes"

    def __init__(self, program, library, folder, seed):
        self.program = program
        self.folder = folder
        self.seed = seed
        self.random = random.Random(f"{seed}.serve")
        self.faults = Faults(library, folder / "faults")
        media, self.backups = folder / "media", folder / "backups"
        (media / MEDIA).parent.mkdir(parents=True)
        self.backups.mkdir()
        shutil.copyfile(FIXTURES / "media" / MEDIA, media / MEDIA)
        self.media_bytes = (media / MEDIA).read_bytes()
        self.server = RunningServer(
            program.path, folder, *OPTIONS, "--backup-folder", str(self.backups), media=media)
        self.server.before = self.faults.before
        self.lock = threading.Lock()
        self.statuses = {}
        self.problems = []
        self.ends = {"kill": 0, "SIGTERM": 0, "SIGTERM with the fault": 0}
        self.stopped, self.over = threading.Event(), threading.Event()
        self.clients = [Writer(self, 0), Writer(self, 1), Counter(self, 2), Importer(self, 3), Reader(self, 4)]

    def prepare(self):
        """A database, and how often each kind is called in a round without a fault."""
        source = self.folder / "counted.ndjson"
        source.write_text("".join(
            json.dumps({"id": id, "type": "text", "feeds": [{"name": FEED}]}) + "\n"
            for id in [COUNTED, *(f"stays-{number}" for number in range(80))]))
        self.program.run("seed", "--database", self.server.database, source)
        self.start()
        started = self.faults.all_calls()
        self.over.set()
        self.begin_clients()
        time.sleep(FAULT_SECONDS)
        calls = {kind: count - started.get(kind, 0) for kind, count in self.faults.all_calls().items()}
        self.end_clients()
        self.look()
        return {kind: count for kind, count in calls.items() if count}

    def start(self):
        self.faults.begin()
        watchdog = threading.Timer(ANSWER_SECONDS, lambda: self.server.process.kill())
        watchdog.start()
        try:
            self.server.start()
        finally:
            watchdog.cancel()

    def begin_clients(self):
        self.stopped.clear()
        for client in self.clients:
            client.start()

    def end_clients(self):
        self.stopped.set()
        for client in self.clients:
            client.thread.join(timeout=ANSWER_SECONDS + 30)
            require(not client.thread.is_alive(), f"{type(client).__name__} still waits for an answer")

    def count(self, status):
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    def look(self):
        problems, self.problems = self.problems, []
        require(not problems, "; ".join(sorted(set(problems))[:5]))

    def round(self, fault, choices):
        """Work, a fault, work without it, an end, and a look at all that was answered."""
        self.over.clear()
        self.begin_clients()
        time.sleep(0.1)
        self.faults.arm(fault)
        wait_until(lambda: self.faults.fired(fault.kind), FAULT_SECONDS, 0.01)
        time.sleep(0.3)
        require(self.server.is_running(), f"the server has ended: {self.log_end()}")
        end = choices.choice(list(self.ends))
        fired = self.faults.fired(fault.kind)
        if end != "SIGTERM with the fault":
            self.faults.disarm()
            self.over.set()
            for client in self.clients:
                good = client.good_since.wait(ANSWER_SECONDS)
                require(good, f"{type(client).__name__} is not served {ANSWER_SECONDS} s after the fault: "
                              f"{self.problems[:3]} {self.log_end()}")
        self.ends[end] += 1
        self.end(end)
        self.end_clients()
        self.look()
        self.faults.disarm()
        self.start()
        for client in self.clients:
            client.settle()
            client.disconnect()
        self.look()
        self.program.check(self.server.database)
        self.look_at_files()
        return max(fired, self.faults.fired(fault.kind))

    def end(self, how):
        if how == "kill":
            return self.server.kill()
        try:
            status = self.server.terminate(ANSWER_SECONDS)
        except Exception:
            raise Failed(f"SIGTERM does not end it: {self.log_end()}") from None
        allowed = {0} if how == "SIGTERM" else {0, 1}
        require(status in allowed, f"SIGTERM: status {status}: {self.log_end()}")

    def look_at_files(self):
        """What has a backup's name is one, and files do not pile up."""
        whole = sorted(path for path in self.backups.iterdir() if path.name.endswith(".gz"))
        if whole:
            self.program.backup_content(whole[-1], self.folder / "tried")
        require(len(list(self.backups.iterdir())) <= 8, f"{sorted(path.name for path in self.backups.iterdir())}")
        known = {"feed.sqlite", "feed.sqlite-wal", "feed.sqlite-shm", "feed.sqlite-runs", "feed.sqlite-media",
                 "backups", "media", "tried", "faults", "server.log", "counted.ndjson"}
        left = {path.name for path in self.folder.iterdir()} - known
        require(not left, f"files of unknown names are left: {sorted(left)}")

    def log_end(self):
        return self.server.log.read_text(errors="replace")[-1500:]

    def found(self):
        refused = sum(count for status, count in self.statuses.items() if status >= 500)
        return (f"{sum(self.statuses.values())} answers, {refused} of them 5xx; "
                + ", ".join(f"{count} × {how}" for how, count in self.ends.items() if count))

    def end_all(self):
        if self.server.is_running():
            self.server.kill()


class Starting:
    """A server that meets a fault as it starts: it starts all the same, or ends with words."""

    name = "serve, at its start"

    def __init__(self, program, library, folder, seed):
        self.program = program
        self.folder = folder
        self.faults = Faults(library, folder / "faults")
        self.server = RunningServer(program.path, folder, "--log-level", "warning")
        self.server.before = self.faults.before
        self.number = self.started = self.refused = 0

    def prepare(self):
        self.server.command("seed", "--generate", "200")
        self.start()
        calls = self.faults.all_calls()
        self.server.kill()
        # Without the line on standard output nobody knows the port.
        calls.pop("write", None)
        return calls

    def start(self):
        """Whether it started."""
        watchdog = threading.Timer(ANSWER_SECONDS, lambda: self.server.process.kill())
        watchdog.start()
        try:
            self.server.start()
            return True
        except RuntimeError as error:
            self.said = str(error)
            try:
                status = self.server.process.wait(ANSWER_SECONDS)
            except Exception:
                raise Failed("it neither starts nor ends") from None
            require(status == 1, f"status {status}: {self.said[-700:]}")
            return False
        finally:
            watchdog.cancel()

    def round(self, fault, choices):
        self.faults.begin()
        self.faults.arm(fault)
        started = self.start()
        if started:
            # What comes after the line that says where it listens.
            time.sleep(0.2)
        fired = self.faults.fired(fault.kind)
        self.faults.disarm()
        if started:
            self.started += 1
            self.write()
        else:
            self.refused += 1
            words = re.sub(r"^the server did not start: ", "", self.said).strip()
            require(words, "it ends without a word")
            require(self.start(), f"without the fault it does not start: {self.said[-700:]}")
            self.write()
        self.server.kill()
        self.program.check(self.server.database)
        return fired

    def write(self):
        """What is written is there, also of the round before."""
        if self.number:
            status, _, body = self.server.get("/v1/items/written", timeout=ANSWER_SECONDS)
            require(status == 200 and json.loads(body)["title"] == f"{self.number}", f"{status} {body[:200]}")
        self.number += 1
        # The fault may have hit an answer; it is over.
        status, _, body = self.server.ask(
            "PUT", "/v1/items/written", {"type": "text", "title": f"{self.number}"}, TOKEN,
            timeout=ANSWER_SECONDS)
        require(status in (201, 204), f"PUT: {status} {body[:300]}")

    def found(self):
        return f"{self.started} started all the same, {self.refused} said what was wrong"

    def end_all(self):
        if self.server.is_running():
            self.server.kill()
