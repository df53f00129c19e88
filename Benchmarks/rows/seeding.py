"""Seeding the large feed into a new database, on both cores."""

import re
import statistics
import subprocess
import time

from processes import MEGABYTE, Process, read
from runs import ratio
from servers import environment

SECONDS = 15
POSTS = 300_000
STEP_SECONDS = 0.05


def measure(bench):
    arguments, what = bench.data.source()
    found = [
        bench.kept(lambda: seed(bench, bench.folder / "seeded.sqlite", arguments),
                   judges_speed=False)
        for _ in range(1 if bench.is_quick else bench.runs)]
    line = {
        name: statistics.median(run[name] for run in found)
        for name in ["posts", "seconds", "seed_rate", "quarter", "half", "end", "peak", "file_mb"]}
    return {
        "title": f"Seeding {what}",
        "to_reach": f"300 000 posts in under {SECONDS} s, memory flat",
        "columns": ["name", *line], "lines": [{"name": "lookahead seed", **line}],
        "ratios": [
            ratio("seconds for 300 000 posts", POSTS / line["seed_rate"], SECONDS, at_least=False),
            ratio("memory at the end against a quarter of the way", line["end"] / line["quarter"],
                  1.5, at_least=False),
        ],
    }


def seed(bench, database, arguments):
    """One run of `lookahead seed` into a new file, watched from outside."""
    for leftover in database.parent.glob(database.name + "*"):
        leftover.unlink()
    found = watched(bench, database, arguments)
    files = [path for path in database.parent.glob(database.name + "*")]
    return found | {"file_mb": sum(path.stat().st_size for path in files) / MEGABYTE}


def watched(bench, database, arguments):
    """One run of `lookahead seed` into an empty database, watched from outside."""
    resident, peak = [], 0
    start = time.monotonic()
    with Process([bench.program, "seed", "--database", database, *arguments], "0,1",
                 environment(), output=subprocess.PIPE) as process:
        while process.is_running:
            status = read(f"/proc/{process.process.pid}/status")
            if "VmHWM" in status:
                resident.append(megabytes(status, "VmRSS"))
                peak = megabytes(status, "VmHWM")
            time.sleep(STEP_SECONDS)
        seconds = time.monotonic() - start
        said = process.process.stdout.read().decode()
    if process.process.returncode != 0:
        raise RuntimeError(f"lookahead seed: {said}")
    added = int(re.search(r"(\d+) added", said)[1])
    return {
        "posts": added, "seconds": seconds, "seed_rate": added / seconds,
        "quarter": resident[len(resident) // 4], "half": resident[len(resident) // 2],
        "end": resident[-1], "peak": peak}


def megabytes(status, name):
    return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M)[1]) * 1024 / MEGABYTE
