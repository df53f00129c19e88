"""Deleting a great many posts while pages are read."""

import re
import subprocess
import threading

from data import GENERATED_POSTS
from machine import SERVER_CORE
from processes import Process
from runs import line, ratio
from servers import PAGE, Lookahead, environment
from steady import Steady

SECONDS, WITHIN = 15, 2
STEADY_RATE, QUIET_SECONDS = 1000, 5
# What stays at the top of each feed, so that there is a page to read.
KEPT = 100
ROUNDS, QUICK_ROUNDS = 3, 1


def measure(bench):
    database = bench.data.generated(GENERATED_POSTS)
    quiet, busy, worst, seconds, posts = [], [], [], [], []
    for _ in range(QUICK_ROUNDS if bench.is_quick else ROUNDS):
        copy = bench.data.copy(database, bench.folder / "pruned.sqlite")
        with Lookahead(bench, copy) as server:
            quiet.append(bench.kept(lambda: Steady(server, PAGE, STEADY_RATE).run(QUIET_SECONDS)))
            sample, slowest, taken, gone = prune(bench, server)
        busy.append(sample)
        worst.append(slowest)
        seconds.append(taken)
        posts.append(gone)
    middle = sorted(range(len(seconds)), key=lambda index: seconds[index])[len(seconds) // 2]
    lines = [{**line("quiet", quiet), "seconds": 0, "posts": 0},
             {**line("lookahead prune", busy), "seconds": seconds[middle], "posts": posts[middle]},
             {**line("its slowest second", worst), "seconds": 1, "posts": 0}]
    return {
        "title": f"Pruning beside reads: {STEADY_RATE} pages a second meanwhile",
        "to_reach": f"300 000 posts in under {SECONDS} s, p99 of reads within {WITHIN} times of quiet",
        "columns": ["name", "posts", "seconds", "p50", "p99", "longest"], "lines": lines,
        "ratios": [
            ratio("seconds for 300 000 posts",
                  seconds[middle] / posts[middle] * 300_000, SECONDS, at_least=False),
            ratio("p99 of reads", lines[1]["p99"] / lines[0]["p99"], WITHIN, at_least=False)],
    }


def prune(bench, server):
    """Reads as long as the command is at work: a sample of all of it and one of its slowest second, its
    seconds, and how many posts went."""
    samples, times, said = [], [], []
    with Process([bench.program, "prune", "--database", server.database, "--keep-posts", KEPT],
                 SERVER_CORE, environment(), output=subprocess.PIPE) as process:
        reading = threading.Thread(target=lambda: said.append(process.process.stdout.read()))
        reading.start()
        steady = Steady(server, PAGE, STEADY_RATE)
        while process.is_running:
            samples.append(steady.run(1))
            times.append(steady.milliseconds)
        reading.join()
    text = said[0].decode()
    found = re.search(r"(\d+) posts deleted, in ([\d.]+) s", text)
    if process.process.returncode != 0 or not found:
        raise RuntimeError(f"lookahead prune: {text}")
    # The seconds that lie within it.
    samples, times = samples[:-1] or samples, times[:-1] or times
    steady.milliseconds = sum(times, [])
    whole = steady.sample(
        sum(sample.cpu * len(part) for sample, part in zip(samples, times)) / 1e6,
        samples[0].window[0], samples[-1].window[1])
    slowest = max(samples, key=lambda sample: sample.p99)
    return whole, slowest, float(found[2]), int(found[1])
