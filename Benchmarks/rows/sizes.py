"""Cost against size: what a feed of so many generated posts takes to seed, to load and to read."""

import random
import socket
import statistics
import time

from rows.pages import LIMIT
from rows.seeding import seed
from rows.start import until
from runs import ratio
from servers import Lookahead
from steady import Answer

SIZES = [1_000, 10_000, 100_000, 1_000_000, 3_000_000]
FEED = "newest"
# Cold pages lie within so many items of the place; each is asked for once.
WINDOW = 600
COLD_PAGES = 50
HOT_REQUESTS = 500
STARTS = 3
SEED_SHARE = 0.7
TEN_MILLION, TEN_MILLION_MEGABYTES, READY_SECONDS = 10_000_000, 1024, 1
DEPTH, DEPTH_WITHIN = 250_000, 1.2


def measure(bench):
    lines = [measure_size(bench, size) for size in bench.sizes or SIZES]
    rates = {line["posts"]: line["seed_rate"] for line in lines}
    return {
        "title": "Cost against size: generated posts, one connection",
        "to_reach": f"three million are seeded at no less than {SEED_SHARE} of the rate of 100 000",
        "columns": ["name", "seed_rate", "peak", "file_mb", "ready_ms", "first_page_ms", "rss",
                    "top_cold", "top_hot", "half_cold", "half_hot", "end_cold", "end_hot"],
        "lines": lines,
        "ratios": [ratio("rate of seeding 3 000 000 against 100 000",
                         rates[3_000_000] / rates[100_000], SEED_SHARE, at_least=True)]
        if rates.keys() >= {100_000, 3_000_000} else [],
    }


def measure_ten_million(bench):
    """The same for so many posts that little of them is in any cache."""
    line = measure_size(bench, TEN_MILLION)
    return {
        "title": "Ten million generated posts, one connection",
        "to_reach": f"under {TEN_MILLION_MEGABYTES} MB, ready in under {READY_SECONDS} s, depth as ever",
        "columns": ["name", "seed_rate", "peak", "file_mb", "ready_ms", "first_page_ms", "rss",
                    "top_cold", "top_hot", "depth_cold", "depth_hot"],
        "lines": [line],
        "ratios": [
            ratio("resident MB", line["rss"], TEN_MILLION_MEGABYTES, at_least=False),
            ratio("seconds to /readyz", line["ready_ms"] / 1000, READY_SECONDS, at_least=False),
            ratio("p50 at offset 250 000, the same page", line["depth_hot"] / line["top_hot"],
                  DEPTH_WITHIN, at_least=False),
            ratio("p50 at offset 250 000, each different", line["depth_cold"] / line["top_cold"],
                  DEPTH_WITHIN, at_least=False)],
    }


def measure_size(bench, size):
    print(f"  {size} posts", flush=True)
    database = bench.folder / f"size-{size}.sqlite"
    seeded = bench.kept(
        lambda: seed(bench, database, ["--generate", str(size)]), judges_speed=False)
    line = {"name": f"{size}", "posts": size, **{
        name: seeded[name] for name in ["seconds", "seed_rate", "peak", "file_mb"]}}
    first_page = f"/rp/?feed={FEED}&limit={LIMIT}"
    for name, path in [("ready_ms", "/readyz"), ("first_page_ms", first_page)]:
        line[name] = statistics.median(
            bench.kept(lambda path=path: until(bench, database, path)) for _ in range(STARTS))
    with Lookahead(bench, database, page="/readyz") as server:
        line |= bench.kept(lambda: page_times(server, size))
        line["rss"], line["pss"] = server.memory()
    for file in bench.folder.glob(database.name + "*"):
        file.unlink()
    return line


def page_times(server, size):
    """The median microseconds of pages at the top, half-way down and at the end, cold and hot."""
    chosen = random.Random(size)
    last = size - LIMIT
    times = {}
    with Asker(server.port) as asker:
        asker.ask("/healthz")
        for name, place in [("top", 0), ("half", size // 2), ("end", last),
                            ("depth", min(DEPTH, last))]:
            low = max(0, min(place - WINDOW // 2, last - WINDOW))
            offsets = chosen.sample(range(low, min(last, low + WINDOW) + 1), COLD_PAGES)
            times[name + "_cold"] = statistics.median(asker.page(offset) for offset in offsets)
            times[name + "_hot"] = statistics.median(asker.page(place) for _ in range(HOT_REQUESTS))
    return times


class Asker:
    """One connection that asks for one page after the other."""

    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def page(self, offset):
        return self.ask(f"/rp/?feed={FEED}&limit={LIMIT}&offset={offset}")

    def ask(self, path):
        """The microseconds from asking to the whole answer."""
        request = f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
        answer = Answer()
        start = time.perf_counter()
        self.connection.sendall(request)
        while not answer.take(self.connection.recv(1 << 18)):
            pass
        return (time.perf_counter() - start) * 1e6
