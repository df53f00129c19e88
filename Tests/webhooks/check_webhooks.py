"""Webhooks and changes under kills: check_webhooks.py PROGRAM [--postgres] [--seed N] [--seconds N].

Two servers of one database, a target of its own process that fails in many ways, and writers over HTTP; all three are
killed again and again. Each write that was answered must reach the target, in order, under one id; and a copy that
follows `/v1/changes` must equal the store. Signatures are verified here, by Python's own HMAC.

    check_webhooks.py --receive PORT LOG SEED     is the target
"""

import argparse
import base64
import contextlib
import hashlib
import hmac
import http.client
import http.server
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "load"), str(HERE.parent / "monitoring")]

from checks import Skipped  # noqa: E402
from pair import Pair  # noqa: E402
from ports import free_port  # noqa: E402
from running import RunningServer, TOKEN, wait_until  # noqa: E402

# While one replaces the other, both sign.
SECRETS = [base64.b64encode(bytes([number]) * 32).decode() for number in (7, 8)]
failures = []


def expect(holds, words):
    print(f"{'ok  ' if holds else 'FAIL'} {words}", flush=True)
    if not holds:
        failures.append(words)


# The target


def is_signed(fields, body):
    """As https://www.standardwebhooks.com says a receiver verifies."""
    told = [part.split(",", 1)[1] for part in fields["webhook-signature"].split()]
    signed = f'{fields["webhook-id"]}.{fields["webhook-timestamp"]}.'.encode() + body
    made = [base64.b64encode(hmac.new(base64.b64decode(secret), signed, hashlib.sha256).digest()).decode()
            for secret in SECRETS]
    recent = abs(time.time() - int(fields["webhook-timestamp"])) < 300
    return recent and told == made


def receive(port, log, seed):
    """Writes down each message before it answers; then fails to answer, now and then."""
    rng = random.Random(seed)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if rng.random() < 0.1:
                return self.send_error(500)
            with open(log, "a") as file:
                file.write(json.dumps({"id": self.headers["webhook-id"], "isSigned": is_signed(self.headers, body),
                                       "message": json.loads(body)}) + "\n")
                file.flush()
            if rng.random() < 0.1:
                return self.connection.close()
            self.send_response(204)
            self.end_headers()
            return None

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


class Target:
    def __init__(self, folder, seed):
        self.port = free_port()
        self.log = pathlib.Path(folder) / "target.log"
        self.log.touch()
        self.seed = seed
        self.process = None

    def start(self):
        self.seed += 1
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--receive", str(self.port), str(self.log), str(self.seed)])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def messages(self):
        # A line that a kill cut off was not answered.
        return [json.loads(line) for line in self.log.read_text().split("\n") if line.endswith("}")]


# The writers


class Writer(threading.Thread):
    """Writes one item after the other, to any server that answers; `done` has those that were answered, in order."""

    def __init__(self, name, servers, seed, end):
        super().__init__()
        self.name, self.servers, self.rng, self.end, self.done = name, servers, random.Random(seed), end, []

    def run(self):
        number = 0
        while time.monotonic() < self.end:
            # The end of a feed is a change of each of its items: without a pace a fast machine makes more than the target, a
            # tenth of whose answers are failures that cost a second, can be told in the time that is waited for it.
            time.sleep(0.04)
            number += 1
            item, feed = f"{self.name}-{number}", self.rng.choice(["x", "y"])
            record = {"type": "image", "title": f"made {number}",
                      "feeds": [{"name": feed, "rank": self.rng.randrange(1, 100)}]}
            self.until_answered("PUT", f"/v1/items/{item}", record)
            self.done.append(item)
            old = f"{self.name}-{self.rng.randrange(1, number + 1)}"
            what = self.rng.random()
            if what < 0.3:
                self.until_answered("DELETE", f"/v1/items/{old}")
            elif what < 0.6:
                self.until_answered("POST", f"/v1/items/{old}/counters", {"likes": 1})
            elif what < 0.62:
                self.until_answered("DELETE", f"/v1/feeds/{feed}")

    def until_answered(self, method, path, document=None):
        while True:
            try:
                status, _, body = self.rng.choice(self.servers).ask(method, path, document, TOKEN, timeout=5)
                if status < 500:
                    assert status in (200, 201, 202, 204, 404, 409), (status, body)
                    return
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)


# A copy


class Copy:
    def __init__(self, server):
        self.items, self.feeds = {}, set()
        self.cursor = ask(server, "/v1/changes")["paging"]["next"]

    def follow(self, server, limit):
        page = ask(server, f"/v1/changes?since={self.cursor}&limit={limit}&records=true")
        for change in page["changes"]:
            if change["kind"] == "item":
                if change["state"] == "gone":
                    self.items.pop(change["id"], None)
                elif "record" in change:
                    self.items[change["id"]] = change["record"]
                continue
            name = change["name"]
            (self.feeds.add if change["state"] == "present" else self.feeds.discard)(name)
            if change["state"] == "present":
                continue
            for record in self.items.values():
                record["feeds"] = [place for place in record.get("feeds", []) if place["name"] != name]
            if change["state"] == "replaced":
                self.feeds.add(name)
                for record in listed(server, f"&feed={name}"):
                    self.items[record["id"]] = record
        self.cursor = page["paging"]["next"]
        return page["paging"]["hasMore"]


def ask(server, path):
    status, _, body = server.ask("GET", path, token=TOKEN)
    assert status == 200, body
    return json.loads(body)


def listed(server, query=""):
    after = ""
    while True:
        status, _, body = server.ask("GET", f"/v1/items?limit=100{query}{after}", token=TOKEN)
        if status == 404:
            return
        assert status == 200, body
        page = json.loads(body)
        yield from (item["record"] for item in page["items"])
        if not page["paging"]["next"]:
            return
        after = "&after=" + page["paging"]["next"]


def plain(record):
    """A record to compare: without an order of its feeds."""
    return {**record, "feeds": sorted((p["name"], p.get("rank")) for p in record.get("feeds", []))}


def check(program, seed, seconds, on_postgres):
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as databases:
        target = Target(folder, seed)
        hooks = pathlib.Path(folder) / "webhooks"
        hooks.write_text(f"# two secrets\ncopy http://127.0.0.1:{target.port}/hook "
                         + " ".join("whsec_" + secret for secret in SECRETS) + " batch=20\n")
        hooks.chmod(0o600)
        options = ("--webhooks", str(hooks), "--webhook-allow-private", "--webhook-retry-seconds", "1",
                   "--webhook-timeout-milliseconds", "2000")
        servers = [RunningServer(program, folder, *options) for _ in range(2)]
        if on_postgres:
            pair = databases.enter_context(Pair(folder, has_standby=False))
            for server in servers:
                server.database = pair.address()
        servers[0].command("migrate", "up")
        for number, server in enumerate(servers):
            server.log = pathlib.Path(folder) / f"server-{number}.log"
            server.start()
        target.start()
        try:
            run(servers, target, rng, seconds)
        finally:
            target.kill()
            for server in servers:
                if server.is_running():
                    server.kill()


def run(servers, target, rng, seconds):
    wait_until(lambda: "position" in ask(servers[0], "/v1/webhooks")["webhooks"][0], 30)
    copy = Copy(servers[0])
    end = time.monotonic() + seconds
    writers = [Writer(name, servers, rng.random(), end) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    kills = 0
    while any(writer.is_alive() for writer in writers):
        time.sleep(rng.uniform(0.5, 2))
        victim = rng.choice([target, *servers])
        victim.kill()
        kills += 1
        time.sleep(rng.uniform(0, 0.5))
        victim.start()
        try:
            copy.follow(rng.choice(servers), rng.randrange(1, 50))
        except (OSError, http.client.HTTPException):
            pass
    for writer in writers:
        writer.join()
    made = {writer.name: writer.done for writer in writers}
    hook = {}

    def is_told():
        hook.clear()
        hook.update(ask(servers[0], "/v1/webhooks")["webhooks"][0])
        return "behindSince" not in hook and not ask(
            servers[0], f'/v1/changes?since={hook["position"]}')["changes"]

    expect(wait_until(is_told, 120, 0.2), f"the target was told all of {sum(map(len, made.values()))} items, "
           f"over {kills} kills: {hook}")
    messages = target.messages()
    expect(messages and all(message["isSigned"] for message in messages),
           f"{len(messages)} messages are signed by both secrets, as Python verifies")
    by_id, order = {}, []
    for message in messages:
        names = [(c["kind"], c.get("id", c.get("name"))) for c in message["message"]["data"]["changes"]]
        if message["id"] in by_id:
            expect(by_id[message["id"]] >= set(names) or by_id[message["id"]] <= set(names),
                   f'{message["id"]} names the same again') if by_id[message["id"]] != set(names) else None
        else:
            by_id[message["id"]] = set(names)
            order += [name for kind, name in names if kind == "item"]
    repeated = len(messages) - len(by_id)
    first = {}
    for place, name in enumerate(order):
        first.setdefault(name, place)
    lost = [item for items in made.values() for item in items if item not in first]
    expect(not lost, f"each item that was answered was told, {repeated} messages twice: lost {lost[:5]}")
    # One that changed again is told where it changed last: of those that were told once the order is that of the writes.
    once = {name for name in first if order.count(name) == 1}
    for name, items in made.items():
        kept = ask_untouched(servers[0], items) & once
        places = [first[item] for item in items if item in kept]
        expect(places == sorted(places), f"writer {name}: {len(places)} items in the order of the writes")
    while copy.follow(servers[0], rng.randrange(1, 50)):
        pass
    there = {record["id"]: plain(record) for record in listed(servers[0])}
    mine = {name: plain(record) for name, record in copy.items.items()}
    different = [name for name in {*there, *mine} if there.get(name) != mine.get(name)]
    expect(not different and there, f"the copy has the store's {len(there)} items: {different[:3]}")
    feeds = {feed["name"] for feed in ask(servers[0], "/v1/feeds?limit=100")["feeds"]}
    expect(copy.feeds == feeds, f"and its feeds: {feeds}")
    expect(all("whsec" not in server.log.read_text() for server in servers), "no log has a secret")


def ask_untouched(server, items):
    """Those that were made and not changed since, neither by a write nor by the end of their feed."""
    return {record["id"] for record in listed(server)
            if record["id"] in set(items) and "counters" not in record and record.get("feeds")}


def main():
    if sys.argv[1:2] == ["--receive"]:
        receive(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of its own, and not on SQLite")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    try:
        check(arguments.program, arguments.seed, arguments.seconds, arguments.postgres)
    except Skipped as reason:
        print(f"skipped: {reason}")
        sys.exit(2)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
