"""Memory with the large feed loaded, caches warm, and idle connections."""

import socket
import statistics

from data import random_offsets
from load import wrk
from rows.pages import LIMIT, feed_total, saved
from runs import ratio
from servers import Lookahead

CONNECTIONS = 5000
LIMIT_MEGABYTES = 150
REQUEST = b"GET /rp/?feed=featured&limit=1 HTTP/1.1\r\nHost: bench\r\n\r\n"
CODINGS = ["identity", "gzip", "br"]
PAGES = 20_000


def measure(bench):
    found = [once(bench) for _ in range(1 if bench.is_quick else bench.runs)]
    lines = [
        {"name": name, "rss": statistics.median(memory[name][0] for memory in found),
         "pss": statistics.median(memory[name][1] for memory in found)}
        for name in found[0]]
    return {
        "title": f"Memory with the large feed loaded and {CONNECTIONS} idle connections",
        "to_reach": f"under {LIMIT_MEGABYTES} MB", "columns": ["name", "rss", "pss"],
        "lines": lines,
        "ratios": [
            ratio("resident MB with all of it", lines[-1]["rss"], LIMIT_MEGABYTES, at_least=False)],
    }


def once(bench):
    """The resident and proportional MB at each step of one server's life."""
    feed = bench.data.big_feed
    top = f"/rp/?feed={feed}&limit={LIMIT}"
    with Lookahead(bench, bench.data.big()) as server:
        memory = {"ready": server.memory()}
        offsets = random_offsets(PAGES, feed_total(server, feed) - LIMIT)
        paths = saved(bench, 0, [f"{top}&offset={k}" for k in offsets])
        for coding in CODINGS:
            wrk(server, top, bench.seconds, paths=paths, fields=[f"Accept-Encoding: {coding}"])
        memory["pages all over asked for in three codings"] = server.memory()
        held = [idle_connection(server.port) for _ in range(CONNECTIONS)]
        memory[f"and {CONNECTIONS} idle connections, each served once"] = server.memory()
        for connection in held:
            connection.close()
    return memory


def idle_connection(port):
    """A connection that has been served and asks for nothing more."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(REQUEST)
    if not connection.recv(1 << 18).startswith(b"HTTP/1.1 200 "):
        raise RuntimeError("an idle connection was not served before")
    return connection
