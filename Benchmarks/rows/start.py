"""From the program's start to the first answers."""

import statistics
import time

from runs import ratio
from servers import PAGE, Lookahead

READY_SECONDS = 1
STEP_SECONDS = 0.0005


def measure(bench):
    database = bench.data.big()
    ways = {
        "/readyz is 200": ("/readyz", {}), "the first page is answered": (PAGE, {}),
        "the first page is answered in gzip": (PAGE, {"Accept-Encoding": "gzip"})}
    found = {name: [] for name in ways}
    until(bench, database, PAGE)
    for _ in range(bench.runs):
        for name, way in ways.items():
            found[name].append(bench.kept(lambda way=way: until(bench, database, *way)))
    lines = [
        {"name": name, "milliseconds": statistics.median(times), "least": min(times),
         "most": max(times)} for name, times in found.items()]
    return {
        "title": "Start on the database of the large feed, in the kernel's file cache",
        "to_reach": "ready in under 1 s", "columns": ["name", "milliseconds", "least", "most"],
        "lines": lines,
        "ratios": [ratio("seconds to /readyz", lines[0]["milliseconds"] / 1000, READY_SECONDS,
                         at_least=False)],
    }


def until(bench, database, path, fields=None):
    """Milliseconds from the program's start until the path is answered with 200."""
    server = Lookahead(bench, database)
    start = time.monotonic()
    server.start()
    try:
        while not is_answered(server, path, fields or {}):
            if not server.process.is_running or time.monotonic() > start + 60:
                raise RuntimeError(f"the server does not answer {path}")
            time.sleep(STEP_SECONDS)
        return (time.monotonic() - start) * 1000
    finally:
        server.process.stop()


def is_answered(server, path, fields):
    try:
        return server.get(path, fields)[0] == 200
    except OSError:
        return False
