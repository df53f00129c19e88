"""A server whose wall clock jumps: by a month and by years, forwards and backwards, while it is read and written."""

import calendar
import email.utils
import http.client
import json
import socket
import time

from checks import require
from faults import Faults
from running import RunningServer, TOKEN, wait_until

NAME = "clocks that jump"
DAY = 86_400
# Against the true time, one after the other.
JUMPS = [30 * DAY, 0, -30 * DAY, 400 * DAY, 399 * DAY, -4000 * DAY, 3, 0]
FEED = "clock"


class Clocks:
    def __init__(self, program, library, folder):
        self.program = program
        self.faults = Faults(library, folder / "faults")
        backups = folder / "backups"
        backups.mkdir()
        self.backups = backups
        self.server = RunningServer(
            program.path, folder, "--log-level", "warning", "--backup-folder", str(backups),
            "--backup-interval-seconds", "2", "--backups-kept", "3")
        self.server.before = self.faults.before
        self.written = {}
        self.offset = self.taps = 0

    def start(self):
        offset = self.offset
        self.faults.begin()
        self.faults.move_clock(offset)
        self.server.start()

    def ask(self, *arguments, **named):
        return self.server.ask(*arguments, token=TOKEN, timeout=30, **named)

    def put(self, number):
        status, _, body = self.ask(
            "PUT", f"/v1/items/p{number:03}",
            {"type": "text", "title": f"{number}", "feeds": [{"name": FEED, "rank": 1000 - number}]})
        require(status in (201, 204), f"PUT: {status} {body[:200]}")
        self.written[f"p{number:03}"] = f"{number}"

    def count(self, key):
        """Whether it counted, and was not answered again."""
        status, fields, body = self.ask(
            "POST", "/v1/items/p000/counters", {"taps": 1}, fields={"Idempotency-Key": f'"{key}"'})
        require(status == 200, f"counters: {status} {body[:200]}")
        counted = fields["Idempotent-Replayed"] is None
        self.taps += counted
        return counted

    def page(self, path):
        status, fields, body = self.server.get(path, timeout=30)
        require(status == 200, f"{path}: {status} {body[:200]}")
        date = calendar.timegm(email.utils.parsedate(fields["Date"]))
        late = abs(date - (time.time() + self.offset))
        require(late < 5, f"Date is {late:.0f} s away from the clock")
        require(0 <= int(fields["Age"] or 0) < 60, f"Age: {fields['Age']}")
        return json.loads(body), fields["ETag"]

    def listen(self):
        """A connection that hears of the feed's events."""
        listener = socket.create_connection(("127.0.0.1", self.server.port), timeout=30)
        listener.sendall(f"GET /v1/feeds/{FEED}/events HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        self.heard = b""
        self.hear(listener, b"retry: ")
        return listener

    def hear(self, listener, text):
        end = time.monotonic() + 30
        while text not in self.heard:
            require(time.monotonic() < end, f"no {text} among the events: {self.heard[-200:]}")
            piece = listener.recv(65_536)
            require(piece, "the events have ended")
            self.heard += piece
        self.heard = b""

    def jump(self, offset, listener, number):
        """Everything goes on, whatever the clock says."""
        path = f"/rp/?feed={FEED}&limit=10"
        key = f"before-{number}"
        require(self.count(key) and not self.count(key), "a key counts twice")
        first, tag = self.page(path)
        idle = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        idle.request("GET", "/healthz")
        require(idle.getresponse().read() is not None, "no answer")

        moved, self.offset = offset - self.offset, offset
        self.faults.move_clock(offset)

        # The Date is made once a second or so.
        require(wait_until(lambda: self.is_date_right(path), 10), "the Date stays behind the clock")
        following, _ = self.page(first["paging"]["links"]["next"])
        ids = [item["id"] for item in first["items"] + following["items"]]
        require(len(ids) == len(set(ids)) == 20, f"the walk goes on with {ids}")
        status, fields, _ = self.server.get(path, {"If-None-Match": tag}, timeout=30)
        require(status == 304, f"the same page: {status}")
        # A connection waits for its own time, and not for the calendar's.
        idle.request("GET", "/healthz")
        require(idle.getresponse().status == 200, "a connection was cut off by the jump")
        idle.close()

        self.put(number)
        self.hear(listener, b"event: newer")
        again = f"after-{number}"
        require(self.count(again) and not self.count(again), "a key counts twice after the jump")
        expired = self.count(key)
        require(not expired or moved > DAY, "a key is forgotten before its time")
        require(expired or moved < DAY, "a key is kept beyond its time")
        found = json.loads(self.server.get("/v1/items/p000", timeout=30)[2])["counters"]["taps"]
        require(found == self.taps, f"{found} taps in place of {self.taps}")
        before = self.newest_backup()
        require(wait_until(lambda: self.newest_backup() != before, 20), "no backup is made after the jump")

    def is_date_right(self, path):
        date = calendar.timegm(email.utils.parsedate(self.server.get(path, timeout=30)[1]["Date"]))
        return abs(date - (time.time() + self.offset)) < 3

    def newest_backup(self):
        """The file that was made last, by the true clock."""
        made = [(path.stat().st_ctime_ns, path.name) for path in self.backups.iterdir()
                if path.name.endswith(".gz")]
        return max(made, default=None)

    def check_written(self):
        for id, title in self.written.items():
            status, _, body = self.server.get(f"/v1/items/{id}", timeout=30)
            require(status == 200 and json.loads(body)["title"] == title, f"{id}: {status} {body[:100]}")
        self.program.check(self.server.database)
        whole = sorted(self.backups.glob("*.gz"))
        require(0 < len(whole) <= 4, f"{len(whole)} backups, of which 3 are to be kept")

    def check(self):
        self.start()
        for number in range(60):
            self.put(number)
        for number, offset in enumerate(JUMPS, 1):
            # What was written then has the other clock's times.
            listener = self.listen()
            self.jump(offset, listener, 60 + number)
            listener.close()
            self.check_written()
            start = time.monotonic()
            require(self.server.terminate() == 0, "SIGTERM: the status is not 0")
            require(time.monotonic() - start < 20, "SIGTERM takes too long")
            self.start()
            self.check_written()
        require(self.server.terminate() == 0, "SIGTERM: the status is not 0")
        return f"{len(JUMPS)} jumps, from {min(JUMPS) // DAY} to {max(JUMPS) // DAY} days; {self.taps} taps"


def check(program, library, folder):
    clocks = Clocks(program, library, folder)
    try:
        return clocks.check()
    finally:
        if clocks.server.is_running():
            clocks.server.kill()
