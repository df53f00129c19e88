"""nginx and Varnish in front of the server, as caches; Caddy as a proxy.

The nginx and Caddy files are those of docs/security.md, with ports and paths of the test put in.
"""

import http.client
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import time
from urllib.parse import quote

from checks import Failed, Skipped, require
from ports import free_port
from running import TOKEN, wait_until

HERE = pathlib.Path(__file__).parent
SECURITY = HERE.parents[1] / "docs/security.md"
PAGE = "/rp/?feed=featured&limit=7"
MAX_AGE_SECONDS = 1


def documented(language):
    """The one block of this language in docs/security.md."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", SECURITY.read_text(), re.M | re.S)
    require(len(blocks) == 1, f"docs/security.md has {len(blocks)} blocks of {language}")
    return blocks[0]


def replaced(text, values):
    """The text with each key replaced; each has to be there."""
    for old, new in values.items():
        require(old in text, f"docs/security.md does not have: {old}")
        text = text.replace(old, new)
    return text


class Proxy:
    """A proxy in front of the server; use it with `with`."""

    name = ""
    secure = False

    def __init__(self, server, folder):
        if not shutil.which(self.name):
            raise Skipped(f"there is no {self.name}")
        self.server = server
        self.folder = folder / self.name
        self.folder.mkdir()
        self.port = free_port()
        self.process = None

    def command(self):
        """Writes the configuration; the command that runs it in the foreground."""
        raise NotImplementedError

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL,
            stdout=open(self.folder / "output", "wb"), stderr=subprocess.STDOUT, cwd=self.folder)
        try:
            require(wait_until(self.is_up, 20), "it did not start: " + self.output())
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def output(self):
        return (self.folder / "output").read_text()[-1000:]

    def is_up(self):
        if self.process.poll() is not None:
            raise Failed("it ended: " + self.output())
        try:
            return self.request("GET", "/openapi.json")[0] == 200
        except OSError:
            return False

    def connection(self, source="127.0.0.1"):
        """A connection from this address; one with TLS names the site in its handshake."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.sock = socket.create_connection(
            ("127.0.0.1", self.port), timeout=20, source_address=(source, 0))
        if self.secure:
            context = ssl.create_default_context(cafile=self.folder / "certificate.pem")
            connection.sock = context.wrap_socket(
                connection.sock, server_hostname="feeds.example.org")
        return connection

    def request(self, method, path, fields=(), body=None, encode_chunked=False):
        """Status, header fields, body."""
        connection = self.connection()
        try:
            connection.request(
                method, path, body, {"Host": "feeds.example.org", **dict(fields)},
                encode_chunked=encode_chunked)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def make_certificate(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
             "-subj", "/CN=feeds.example.org", "-addext", "subjectAltName=DNS:feeds.example.org",
             "-keyout", "key.pem", "-out", "certificate.pem"],
            cwd=self.folder, capture_output=True, check=True, timeout=30)


class Nginx(Proxy):
    name = "nginx"
    secure = True

    def command(self):
        self.make_certificate()
        site = replaced(documented("nginx"), {
            "/var/cache/nginx/lookahead": str(self.folder / "cache"),
            "server 127.0.0.1:8080": f"server 127.0.0.1:{self.server.port}",
            # Not every machine that tests has IPv6.
            "  listen [::]:80;\n": "",
            "  listen [::]:443 ssl http2;\n": "",
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "/etc/letsencrypt/live/feeds.example.org/fullchain.pem": "certificate.pem",
            "/etc/letsencrypt/live/feeds.example.org/privkey.pem": "key.pem",
        })
        (self.folder / "lookahead.conf").write_text(site)
        paths = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        (self.folder / "nginx.conf").write_text(
            f"daemon off;\nworker_processes 1;\npid {self.folder}/pid;\nerror_log stderr;\n"
            f"events {{}}\nhttp {{\naccess_log off;\n{paths}include lookahead.conf;\n}}\n")
        command = ["nginx", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        tested = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=20)
        require(tested.returncode == 0 and "[warn]" not in tested.stderr, tested.stderr)
        return command


class Varnish(Proxy):
    name = "varnishd"

    def command(self):
        text = (HERE / "default.vcl").read_text()
        (self.folder / "default.vcl").write_text(
            replaced(text, {'"BACKEND_PORT"': f'"{self.server.port}"'}))
        return ["varnishd", "-F", "-n", str(self.folder / "work"), "-a", f"127.0.0.1:{self.port}",
                "-f", str(self.folder / "default.vcl"), "-s", "malloc,64m"]


class Caddy(Proxy):
    name = "caddy"
    secure = True

    def command(self):
        self.make_certificate()
        text = replaced(documented("caddyfile"), {
            "{\n  servers {": "{\n  admin off\n  auto_https disable_redirects\n  servers {",
            "feeds.example.org {": f"https://feeds.example.org:{self.port} {{\n"
            "  bind 127.0.0.1\n  tls certificate.pem key.pem",
            "127.0.0.1:8080": f"127.0.0.1:{self.server.port}",
        })
        (self.folder / "Caddyfile").write_text(text)
        environment = ["env", f"HOME={self.folder}", f"XDG_DATA_HOME={self.folder}"]
        command = [*environment, "caddy", "validate", "--config", "Caddyfile"]
        tested = subprocess.run(
            command, capture_output=True, text=True, timeout=30, cwd=self.folder)
        require(tested.returncode == 0, tested.stderr[-500:])
        return [*environment, "caddy", "run", "--config", "Caddyfile"]


def page_is_cached(proxy):
    """A page comes from the cache, is revalidated with 304, and follows a write."""
    server = proxy.server
    before = {status: server.answers("/rp/", status) for status in [200, 304]}

    def answered(status):
        return server.answers("/rp/", status) - before[status]

    status, _, page = proxy.request("GET", PAGE)
    require(status == 200, f"status {status}")
    for _ in range(20):
        _, fields, again = proxy.request("GET", PAGE)
        require(again == page and fields["X-Cache"] == "HIT", f"X-Cache: {fields['X-Cache']}")
    counts = answered(200), answered(304)
    require(counts == (1, 0), f"21 requests reached the server as {counts[0]} × 200, {counts[1]} × 304")

    # Not asked on the way: a request of a stale page is what revalidates it.
    time.sleep(MAX_AGE_SECONDS + 1.1)
    for _ in range(3):
        _, _, again = proxy.request("GET", PAGE)
        require(again == page, "another page after revalidation")
        time.sleep(0.1)
    counts = answered(200), answered(304)
    require(counts == (1, 1), f"after max-age: {counts[0]} × 200, {counts[1]} × 304")

    tag = fields["ETag"]
    status, _, body = proxy.request("GET", PAGE, {"If-None-Match": tag})
    require((status, body) == (304, b""), f"If-None-Match {tag}: {status}")

    item = json.loads(page)["items"][3]["id"]
    status, _, body = proxy.request(
        "POST", f"/v1/items/{quote(item, safe='')}/counters",
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}, b'{"likes":1}')
    require(status == 200, f"write: {status} {body}")
    # Stale pages may be shown once while the new one is fetched.
    require(wait_until(lambda: proxy.request("GET", PAGE)[2] != page, 6, 0.3), "no new page")
    return "21 requests cost one 200; then 304; then the page that was written to"


def passes_the_rest(proxy, media):
    """Ranges, codings, streams, ids, and what must not come out."""
    whole = (media / "short.mp4").read_bytes()
    status, fields, body = proxy.request("GET", "/media/short.mp4", {"Range": "bytes=5000-5999"})
    require((status, body) == (206, whole[5000:6000]), f"range: {status}")
    status, fields, body = proxy.request("GET", "/media/short.mp4")
    require((status, body) == (200, whole), f"media: {status}")

    _, fields, body = proxy.request("GET", PAGE, {"Accept-Encoding": "gzip"})
    require(fields["Content-Encoding"] == "gzip", "not compressed")
    _, fields, _ = proxy.request("GET", "/v1/feeds?x=1", {"X-Request-Id": "of-the-client"})
    require(fields["X-Request-Id"] == "of-the-client", f"X-Request-Id: {fields['X-Request-Id']}")

    records = (b'{"id":"peer-%d","type":"text","feeds":[{"name":"peers","rank":%d}]}\n' % (i, i)
               for i in range(50_000))
    credentials = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/x-ndjson"}
    status, _, body = proxy.request("POST", "/v1/import", credentials, records, encode_chunked=True)
    require(status == 200 and json.loads(body)["refused"] == 0, f"import: {status} {body[:200]}")

    outside = ["/metrics", "/readyz", "/%6detrics", "/v1/../metrics", "/rp/%2e%2e/metrics",
               "/rp/..%2fmetrics", "//metrics", "/media/..%2f..%2fmetrics", "/rp/..;/metrics"]
    for path in outside:
        status, _, body = proxy.request("GET", path)
        require(status in (400, 404) and b"lookahead_http" not in body, f"{path}: {status}")
    return f"ranges, gzip, ids, 50000 records as a stream; {len(outside)} ways to /metrics are shut"


def knows_the_client(proxy):
    """The server's log has the client's address, and not the one that the client made up."""
    request_id = "forwarded-" + proxy.name
    connection = proxy.connection(source="127.0.0.5")
    connection.request("GET", "/v1/feeds", headers={
        "Host": "feeds.example.org", "X-Forwarded-For": "203.0.113.9", "X-Request-Id": request_id,
        # What a cache has would not reach the server.
        "Authorization": "Bearer none"})
    connection.getresponse().read()
    connection.close()

    def lines():
        return [r["client"] for r in proxy.server.requests() if r["requestID"] == request_id]

    wait_until(lines, 5)
    require(lines() == ["127.0.0.5"], f"the client in the log: {lines()}")
