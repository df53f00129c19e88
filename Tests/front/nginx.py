"""docker/nginx.conf as it is, but for addresses, in front of one server."""

import asyncio
import http.client
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import time

from checks import Skipped, require
from fleet import ROOT, free_port, wait_until

PAGE = "/rp/?feed=featured&limit=30"


class Nginx:
    """Use it with `with`."""

    def __init__(self, folder, server_port):
        self.folder = pathlib.Path(folder) / "nginx"
        self.server_port = server_port
        self.port, self.plain_port = free_port(), free_port()
        self.process = None

    def __enter__(self):
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if not program:
            raise Skipped("there is no nginx")
        (self.folder / "cache").mkdir(parents=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
             "-keyout", self.folder / "server.key", "-out", self.folder / "server.crt"],
            check=True, capture_output=True)
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(
            f"{user} daemon off; pid {self.folder}/pid; error_log {self.folder}/log;\n"
            f"events {{}}\nhttp {{ access_log off; {self.paths()}\n{self.configuration()} }}\n")
        self.process = subprocess.Popen([program, "-p", self.folder, "-c", self.folder / "nginx.conf"],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not wait_until(self.answers, 10):
            self.__exit__()
            raise RuntimeError((self.folder / "log").read_text()[-2000:])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)

    def paths(self):
        return " ".join(f"{name}_temp_path {self.folder}/{name};"
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))

    def configuration(self):
        text = (ROOT / "docker" / "nginx.conf").read_text()
        for old, new in [("server:8080", f"127.0.0.1:{self.server_port}"),
                         ("/var/cache/nginx/lookahead", f"{self.folder}/cache"),
                         ("/etc/nginx/certificates", str(self.folder)),
                         ("listen 443", f"listen 127.0.0.1:{self.port}"),
                         ("listen 80", f"listen 127.0.0.1:{self.plain_port}"),
                         ("rate=50r/s", "rate=5000r/s")]:
            require(old in text, f"docker/nginx.conf has no {old}")
            text = text.replace(old, new)
        return text

    def connection(self):
        context = ssl.create_default_context(cafile=self.folder / "server.crt")
        context.check_hostname = False
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=10)

    def answers(self):
        try:
            connection = self.connection()
            connection.connect()
            connection.close()
            return True
        except OSError:
            return False

    def get(self, path, **fields):
        connection = self.connection()
        try:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


def kept(nginx, server):
    """A page is kept for its max-age (1 s here), asked for anew with its validator, and shown meanwhile."""
    first, second = nginx.get(PAGE), nginx.get(PAGE)
    require(first[1]["x-cache"] == "MISS" and second[1]["x-cache"] == "HIT", f"{first[1]} {second[1]}")
    require(first[2] == second[2], "the cache has another page")
    require(not {"surrogate-key"} & set(second[1]), "keys are for nobody outside")
    before = server.answers("/rp/", 304)
    time.sleep(2.2)
    stale = nginx.get(PAGE)
    require(stale[1]["x-cache"] == "STALE" and stale[2] == first[2], str(stale[1]))
    require(wait_until(lambda: nginx.get(PAGE)[1]["x-cache"] == "HIT", 2), "it is not asked for anew")
    require(server.answers("/rp/", 304) == before + 1, "the server was not asked with the validator")


def locked(nginx, server):
    """Many who ask at once for what is not there are one request."""
    before = server.answers("/rp/", 200)
    path = "/rp/?feed=newest&limit=29"

    async def ask():
        return await asyncio.gather(*(asyncio.to_thread(nginx.get, path) for _ in range(20)))

    answers = asyncio.run(ask())
    require(all(status == 200 for status, _, _ in answers), str([answer[0] for answer in answers]))
    asked = server.answers("/rp/", 200) - before
    require(asked == 1, f"20 at once made {asked} requests")


def streamed(nginx, server):
    """Events come as they are sent."""
    connection = nginx.connection()
    connection.request("GET", "/v1/feeds/featured/events")
    answer = connection.getresponse()
    require(answer.status == 200 and b"retry" in answer.fp.readline() + answer.fp.readline(), str(answer.status))
    start = time.monotonic()
    server.ask("PUT", "/v1/items/nginx-news", {"type": "text", "feeds": [{"name": "featured", "rank": 0}]},
               token="token-of-the-tests-0123456789")
    text = b""
    while b"event: newer" not in text:
        text += answer.fp.readline()
    connection.close()
    took = time.monotonic() - start
    require(took < 1, f"an event took {took:.1f} s")


def unpoisoned(nginx, server):
    """Whatever host somebody names, others get the document with the public URL."""
    for count, path in enumerate(["/v1/feeds/featured/feed.json", "/v1/feeds/featured/feed.xml"]):
        for host in ["evil.example", "localhost", "127.0.0.1:1", "feeds.example:1", "[::1]", "$(x)", "a..b", "javascript:",
                     "a" * 300]:
            target = f"{path}?limit={2 + count}"
            attack = nginx.get(target, Host=host, X_Forwarded_Host="evil.example", X_Forwarded_Proto="gopher")
            status, fields, body = nginx.get(target, Host="feeds.example")
            require(attack[0] in (200, 400, 421), f"{host}: {attack[0]}")
            require(status == 200 and b"https://feeds.example/v1/" in body, f"{host}: {status} {body[:200]}")
            require(b"evil" not in body and b"localhost" not in body and b"127.0.0.1" not in body
                    and b"feeds.example:" not in body, f"{host} is in {body[:400]}")


def alone(nginx, server):
    """While the server is away, pages are shown as they were."""
    # Behind a stale page the cache asks for a new one, which may come before the server is killed.
    answers = []
    require(wait_until(lambda: answers.append(nginx.get(PAGE)) or answers[-1][1]["x-cache"] == "HIT", 10),
            "no page is kept")
    page = answers[-1][2]
    server.kill()
    time.sleep(2.2)
    for _ in range(5):
        status, fields, body = nginx.get(PAGE)
        require((status, body) == (200, page), f"{status} {fields}")
    require(nginx.get("/rp/?feed=newest&limit=3")[0] in (502, 504), "what is not there is answered")


CHECKS = [("a page is kept, and asked for anew", kept), ("many are one request", locked),
          ("events go through", streamed),
          ("no client's host is shown to another", unpoisoned), ("without its server", alone)]


def version():
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    said = subprocess.run([program, "-v"], capture_output=True, text=True).stderr if program else ""
    return re.sub(r".*/", "", said.strip())
