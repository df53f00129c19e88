"""The prefetch engine: what an event costs, and whether memory grows with a session."""

import json
import statistics
import subprocess

from runs import ratio

# Strategy, items in the list, items gone through.
SESSIONS = [
    ("plain", 100, 100), ("weighted", 100, 100), ("range-controller", 100, 100),
    ("stages", 100, 100), ("dashlet", 100, 100), ("pdas", 100, 100), ("expected-wait", 100, 100),
    ("weighted", 1000, 20_000), ("expected-wait", 1000, 20_000), ("expected-wait", 1000, 100_000)]


def measure(bench):
    program = build(bench)
    lines = [line(bench, program, *session) for session in SESSIONS]
    slowest = {held: max(line["event"] for line in lines if line["held"] == held)
               for held in (100, 1000)}
    long = lines[-1]
    return {
        "title": "The prefetch engine",
        "to_reach": "an event under 20 µs with 100 items held and under 50 µs with 1000; no more memory at the end "
        "of 100 000 items than after a tenth of them",
        "columns": ["name", "event", "early", "late"], "lines": lines,
        "ratios": [
            ratio("µs an event, 100 items held", slowest[100], 20, at_least=False),
            ratio("µs an event, 1000 items held", slowest[1000], 50, at_least=False),
            ratio("memory at the end of 100 000 items against a tenth of the way",
                  long["late"] / long["early"], 1.1, at_least=False)],
    }


def build(bench):
    scratch = bench.built / "engine"
    subprocess.run(
        ["swift", "build", "-c", "release", "--package-path", "Benchmarks/engine",
         "--scratch-path", str(scratch)], check=True, stdout=subprocess.DEVNULL)
    return scratch / "release" / "engine"


def line(bench, program, strategy, held, items):
    runs = [json.loads(subprocess.run(
        [program, strategy, str(held), str(items)], check=True, capture_output=True).stdout)
        for _ in range(3 if bench.is_quick else 5)]
    return {
        "name": f"{strategy}, {held} held" + (f", {items:,} items" if items > held else ""),
        "held": held, "event": statistics.median(run["nanoseconds"] for run in runs) / 1000,
        "early": max(run["early"] for run in runs) / 1e6,
        "late": max(run["end"] for run in runs) / 1e6,
    }
