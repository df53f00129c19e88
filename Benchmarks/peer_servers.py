"""The servers that Lookahead is compared with."""

import gzip
import json
import pathlib

from servers import Server

PEERS = pathlib.Path(__file__).parent / "peers"
# Fields that nginx makes itself, or that belong to one connection or one request.
NGINX_OWN = {
    "etag", "content-type", "content-length", "content-encoding", "date", "x-request-id",
    "connection", "server", "last-modified", "accept-ranges", "transfer-encoding"}


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


class DatabasePeer(Server):
    """A service on Lookahead's database."""

    def __init__(self, bench, database):
        super().__init__(bench)
        self.database = database


class Go(DatabasePeer):
    """net/http, mattn/go-sqlite3 and encoding/json."""

    name = "Go"

    def command(self):
        return [self.bench.built / "go-peer-sqlite", self.database, self.port, PEERS / "posts.sql"]

    def variables(self):
        return {"GOMAXPROCS": "1", "GOGC": "400"}


class Hummingbird(DatabasePeer):
    """Hummingbird, GRDB and JSONEncoder."""

    name = "Hummingbird"

    def command(self):
        program = self.bench.built / "hummingbird" / "release" / "peer"
        return [program, self.database, self.port, PEERS / "posts.sql"]


class Datasette(DatabasePeer):
    """Datasette with the page as a canned query."""

    name = "Datasette"
    page = "/feed/page.json?feed=featured&limit=30&_shape=objects"

    def command(self):
        sql = (PEERS / "datasette.sql").read_text()
        metadata = self.bench.folder / "datasette.json"
        queries = {"page": {"sql": sql}}
        metadata.write_text(json.dumps({"databases": {"feed": {"queries": queries}}}))
        # The name of the file is that of the database in the path.
        link = self.bench.folder / "datasette" / "feed.db"
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(self.database)
        return [self.bench.built / "python" / "bin" / "datasette", "serve", link, "--metadata",
                metadata, "--port", self.port, "--setting", "suggest_facets", "off"]

    def ids(self):
        return [row["id"] for row in json.loads(self.get(self.page)[2])["rows"]]
