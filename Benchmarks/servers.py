"""The servers that are compared, each started on the server's core and stopped again."""

import gzip
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import time

from machine import SERVER_CORE
from processes import Process

HERE = pathlib.Path(__file__).parent
PEERS = HERE / "peers"
TOKEN = "token-of-the-benchmarks-0123456789"
PAGE = "/rp/?feed=featured&limit=30"
# Options that make Lookahead build every page from SQLite.
WITHOUT_CACHES = ["--encoded-memory-bytes", "0", "--item-file-bytes", "0"]
# Fields that nginx makes itself, or that belong to one connection or one request.
NGINX_OWN = {
    "etag", "content-type", "content-length", "content-encoding", "date", "x-request-id", "connection",
    "server", "last-modified", "accept-ranges", "transfer-encoding"}


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

    def ids(self):
        """The ids of the items of its page."""
        return [item["id"] for item in json.loads(self.get(self.page)[2])["items"]]

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


class Nginx(Server):
    """The page of another server as a file."""

    name = "nginx"
    page = "/page.json"

    def __init__(self, bench, answer, access_log=False):
        """Serves `answer`: status, header fields and body as `Server.get` has them."""
        super().__init__(bench)
        _, self.fields, self.body = answer
        self.access_log = access_log

    def command(self):
        folder = self.bench.folder / f"nginx-{self.port}"
        static = folder / "static"
        static.mkdir(parents=True)
        (static / "page.json").write_bytes(self.body)
        (static / "page.json.gz").write_bytes(gzip.compress(self.body, 6))
        # The worker has another user.
        for path in [self.bench.folder, folder, static]:
            path.chmod(0o755)
        fields = "\n    ".join(
            "add_header {} '{}';".format(name, value.replace("'", ""))
            for name, value in self.fields.items() if name.lower() not in NGINX_OWN)
        text = (PEERS / "nginx.conf").read_text()
        for name, value in {
            "ACCESS_LOG": f"{folder}/access.log" if self.access_log else "off",
            "FOLDER": str(folder), "PORT": str(self.port), "    FIELDS": f"    {fields}",
        }.items():
            text = text.replace(name, value)
        (folder / "nginx.conf").write_text(text)
        return ["nginx", "-p", folder, "-c", folder / "nginx.conf"]


class Go(Server):
    """net/http, mattn/go-sqlite3 and encoding/json on the same database."""

    name = "Go"

    def __init__(self, bench, database):
        super().__init__(bench)
        self.database = database

    def command(self):
        return [self.bench.built / "go-peer", self.database, self.port, PEERS / "posts.sql"]

    def variables(self):
        return {"GOMAXPROCS": "1", "GOGC": "400"}


class Hummingbird(Go):
    """Hummingbird, GRDB and JSONEncoder on the same database."""

    name = "Hummingbird"

    def command(self):
        program = self.bench.built / "hummingbird" / "release" / "peer"
        return [program, self.database, self.port, PEERS / "posts.sql"]

    def variables(self):
        return {}


class Datasette(Go):
    """Datasette with the page as a canned query."""

    name = "Datasette"
    page = "/feed/page.json?feed=featured&limit=30&_shape=objects"

    def command(self):
        sql = (PEERS / "datasette.sql").read_text()
        metadata = self.bench.folder / "datasette.json"
        metadata.write_text(json.dumps({"databases": {"feed": {"queries": {"page": {"sql": sql}}}}}))
        # The name of the file is that of the database in the path.
        link = self.bench.folder / "datasette" / "feed.db"
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(self.database)
        return [self.bench.built / "python" / "bin" / "datasette", "serve", link, "--metadata",
                metadata, "--port", self.port, "--setting", "suggest_facets", "off"]

    def variables(self):
        return {}

    def ids(self):
        return [row["id"] for row in json.loads(self.get(self.page)[2])["rows"]]


def same_items(servers):
    """Raises where not all of them answer the same items in the same order."""
    first, *others = servers
    ids = first.ids()
    for other in others:
        if other.ids() != ids:
            raise RuntimeError(f"{other.name} does not answer the items that {first.name} does")
