"""Reads of the hot page while others write: a bulk seed, an import, counters."""

import dataclasses
import json
import pathlib
import sys
import time
from urllib.parse import quote

from load import wrk
from machine import LOAD_CORE, SERVER_CORE, TooBusy
from processes import Process
from runs import line, ratio
from servers import PAGE, TOKEN, Lookahead, environment
from steady import Steady

COUNTING = pathlib.Path(__file__).parents[1] / "counting.py"
STEADY_RATE = 1000
INCREMENTS_A_SECOND = 500
COUNTER = "bench"
HEAD_START_SECONDS = 0.5
WITHIN = 2
STEADY_SECONDS = 2
REFRESH_SECONDS = 0.2
ROUNDS, QUICK_ROUNDS, ATTEMPTS = 5, 2, 10


def measure(bench):
    ways = {
        "quiet": None, "lookahead seed, another process": seeding,
        "lookahead seed, with nice 19": seeding_nicely, "POST /v1/import": importing,
        f"{INCREMENTS_A_SECOND} increments a second": counting,
    }
    if bench.is_quick:
        del ways["lookahead seed, with nice 19"], ways["POST /v1/import"]
    samples = {name: [] for name in ways}
    for _ in range(ROUNDS if not bench.is_quick else QUICK_ROUNDS):
        for name, begin in ways.items():
            samples[name].append(once(bench, begin))
    lines = {name: line(name, found) for name, found in samples.items()}
    quiet, *others = lines.values()
    return {
        "title": f"Reads during writes: as fast as it goes (rate), {STEADY_RATE} a second (times)",
        "to_reach": "p99 within 2 times of quiet",
        "columns": ["name", "rate", "p50", "p99", "longest", "cpu", "writes"],
        "lines": list(lines.values()),
        "ratios": [ratio(f"p99, {line['name']}", line["p99"] / quiet["p99"], WITHIN, at_least=False)
                   for line in others],
    }


class Ended(Exception):
    """The writes were over before the reads were."""


def once(bench, begin):
    """Reads of a small database of their own while `begin`'s writes go on."""
    for _ in range(ATTEMPTS):
        database = bench.data.copy(bench.data.small(), bench.folder / "reads.sqlite")
        with Lookahead(bench, database) as server:
            wrk(server, PAGE, 1)
            if begin is None:
                return reads(bench, server, None)
            before, start = written(bench, server), time.monotonic()
            with begin(bench, server) as writer:
                time.sleep(HEAD_START_SECONDS)
                try:
                    sample = reads(bench, server, writer)
                except Ended:
                    continue
                finally:
                    writer.kill()
            # What was written is seen a moment after it.
            seconds = time.monotonic() - start
            time.sleep(REFRESH_SECONDS)
            return dataclasses.replace(sample, writes=(written(bench, server) - before) / seconds)
    raise TooBusy(f"the writes ended {ATTEMPTS} times before there were runs that count")


def reads(bench, server, writer):
    """The rate of a closed loop, and the times of requests at a steady rate."""

    def during_writes(measure):
        sample = measure()
        if writer and not writer.is_running:
            raise Ended
        return sample

    steady = Steady(server, PAGE, STEADY_RATE)
    closed = bench.kept(lambda: during_writes(lambda: wrk(server, PAGE, bench.seconds)))
    times = bench.kept(lambda: during_writes(lambda: steady.run(STEADY_SECONDS)))
    return dataclasses.replace(closed, p50=times.p50, p99=times.p99, longest=times.longest)


def written(bench, server):
    """Posts of the big feed and increments that the server shows."""
    feeds = json.loads(server.get("/v1/feeds")[2])["feeds"]
    posts = sum(feed["total"] for feed in feeds if feed["name"] == bench.data.big_feed)
    item = json.loads(server.get(f"/v1/items/{quote(first_item(server), safe='')}")[2])
    return posts + item.get("counters", {}).get(COUNTER, 0)


def first_item(server):
    return server.ids()[0]


def seeding(bench, server, nice=0):
    return Process(
        [bench.program, "seed", "--database", server.database, *bench.data.source()[0]],
        SERVER_CORE, environment(), nice=nice)


def seeding_nicely(bench, server):
    return seeding(bench, server, nice=19)


def importing(bench, server):
    if not bench.data.is_recorded:
        return seeding(bench, server)
    return Process(
        ["curl", "--silent", "--request", "POST", "--upload-file", bench.data.source()[0][0],
         "--header", f"Authorization: Bearer {TOKEN}", "--header", "Expect:",
         "--header", "Content-Type: application/x-ndjson", server.url("/v1/import")], LOAD_CORE)


def counting(bench, server):
    return Process(
        [sys.executable, COUNTING, server.port, first_item(server), COUNTER, INCREMENTS_A_SECOND],
        LOAD_CORE)
