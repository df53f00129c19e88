"""How fast the cores are while runs go on, as a probe on each of them sees it."""

import os
import pathlib
import subprocess
import sys
import time

PROBE = pathlib.Path(__file__).parent / "probe.py"
# A look is a slow one where its loop took so many times the best. The best comes from moments in which
# the other core had nothing to do; with both at work each is slower: at 1.3 not one of 43 runs counted.
SLOWER_LIMIT = 2
LEARNING_SECONDS = 2


class Core:
    """The looks of a probe on one core."""

    def __init__(self, number):
        self.process = subprocess.Popen(
            ["taskset", "-c", number, sys.executable, str(PROBE)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.rest = b""
        self.best = float("inf")
        self.looks = []

    def read(self):
        """Takes in what the probe has seen since the last time."""
        lines = (self.rest + (self.process.stdout.read() or b"")).split(b"\n")
        self.rest = lines.pop()
        for found in lines:
            at, seconds = map(float, found.split())
            self.best = min(self.best, seconds)
            self.looks.append((at, seconds))
        # An hour's looks would do no harm; a few minutes' are enough.
        del self.looks[:-10_000]

    def slow_share(self, start, end):
        """How many of the looks between these times were slow ones; all where there was none."""
        seconds = [seconds for at, seconds in self.looks if start <= at <= end]
        if not seconds:
            return 1
        return sum(s > self.best * SLOWER_LIMIT for s in seconds) / len(seconds)


class Cores:
    """Both cores; use it with `with`."""

    def __init__(self, numbers):
        self.cores = [Core(number) for number in numbers]

    def __enter__(self):
        time.sleep(LEARNING_SECONDS)
        return self

    def __exit__(self, *_):
        for core in self.cores:
            core.process.kill()
            core.process.wait()
            core.process.stdout.close()

    def slow_share(self, start, end):
        """The share of slow looks between these times, of the slower core."""
        for core in self.cores:
            core.read()
        return max(core.slow_share(start, end) for core in self.cores)
