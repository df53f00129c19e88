"""Servers that are started on the server's core, asked, and stopped again; Lookahead is one."""

import http.client
import json
import os
import socket
import time

from machine import SERVER_CORE
from processes import Process

TOKEN = "token-of-the-benchmarks-0123456789"
PAGE = "/rp/?feed=featured&limit=30"
# A server that uses less than this share of a core for so long is at rest.
IDLE_SECONDS = 0.5
IDLE_SHARE = 0.05
# Options that make Lookahead build every page out of encoded items.
WITHOUT_KEPT_PAGES = ["--encoded-memory-bytes", "0"]
# Options that make Lookahead build every page from SQLite.
WITHOUT_CACHES = ["--encoded-memory-bytes", "0", "--item-file-bytes", "0"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(**more):
    """This process's environment without settings of Lookahead."""
    return {k: v for k, v in os.environ.items() if not k.startswith("LOOKAHEAD_")} | more


class Server:
    """A server on 127.0.0.1; use it with `with`."""

    name = "a server"
    page = PAGE

    def __init__(self, bench, cores=SERVER_CORE):
        self.bench = bench
        self.cores = cores
        self.port = free_port()
        self.process = None

    def __enter__(self):
        self.start()
        try:
            self.wait_for(self.page)
            self.settle()
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_):
        self.process.stop()

    def start(self):
        log = self.bench.folder / "server.log"
        with open(log, "wb") as errors:
            self.process = Process(
                self.command(), self.cores, environment(**self.variables()), errors=errors)

    def command(self):
        raise NotImplementedError

    def variables(self):
        return {}

    def wait_for(self, path, within_seconds=60):
        """Returns when the path is answered with 200."""
        end = time.monotonic() + within_seconds
        while True:
            try:
                if self.get(path)[0] == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            if not self.process.is_running or time.monotonic() > end:
                log = (self.bench.folder / "server.log").read_text(errors="replace")
                raise RuntimeError(f"{self.name} does not answer {path}: {log[-2000:]}")
            time.sleep(0.02)

    def settle(self, within_seconds=60):
        """Returns when the server is done with what it does at its start, beside answering."""
        end = time.monotonic() + within_seconds
        while time.monotonic() < end:
            seconds = self.cpu_seconds()
            time.sleep(IDLE_SECONDS)
            if self.cpu_seconds() - seconds <= IDLE_SHARE * IDLE_SECONDS:
                return

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path, fields=()):
        """One request on a connection of its own: status, header fields, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers=dict(fields))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def ids(self, path=None):
        """The ids of the items of its page, or of another."""
        return [item["id"] for item in json.loads(self.get(path or self.page)[2])["items"]]

    def cpu_seconds(self):
        return self.process.cpu_seconds()

    def memory(self):
        return self.process.memory()


class Lookahead(Server):
    """The program under test."""

    name = "Lookahead"

    def __init__(self, bench, database, *options, access_log=False, page=PAGE, cores=SERVER_CORE):
        super().__init__(bench, cores)
        self.database = database
        self.page = page
        self.options = [*options, "--access-log" if access_log else "--no-access-log"]

    def command(self):
        return [self.bench.program, "serve", "--database", self.database, "--port", self.port,
                *self.options]

    def variables(self):
        return {"LOOKAHEAD_WRITE_TOKEN": TOKEN}


def same_items(servers):
    """Raises where not all of them answer the same items in the same order."""
    first, *others = servers
    ids = first.ids()
    for other in others:
        if other.ids() != ids:
            raise RuntimeError(f"{other.name} does not answer the items that {first.name} does")
