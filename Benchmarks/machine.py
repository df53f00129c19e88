"""The machine: what it is, and whether a run had it to itself.

The rule, which docs/benchmarks.md states: a run is thrown away and repeated where
- the hypervisor took more than STEAL_LIMIT of the cores' time (`steal` of /proc/stat),
- processes that are no part of the run took more than FOREIGN_LIMIT of one core, or
- one of the cores worked more slowly than it can in more than SLOW_LIMIT of the run: cores.py.
"""

import collections
import os
import pathlib
import platform
import re
import resource
import subprocess
import time

from processes import TICK, others_seconds

# The server has the one, the load and this program have the other.
SERVER_CORE = "0"
LOAD_CORE = "1"

STEAL_LIMIT = 0.01
FOREIGN_LIMIT = 0.05
SLOW_LIMIT = 0.15

# Before a run: how long to look whether the cores are free and fast, and how long to wait for it.
LOOK_SECONDS = 0.2
WAIT_SECONDS = 10


class TooBusy(Exception):
    """Too many runs had to be thrown away."""


def require_two_cores():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise SystemExit("script/bench needs cores 0 and 1: one for the server, one for the load")


def stolen_times():
    """Seconds of all cores together: stolen, all in all."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    times = [int(field) / TICK for field in fields[:8]]
    return times[7], sum(times)


def children_seconds():
    """The CPU time of this process and of its children that have ended."""
    return sum(
        u.ru_utime + u.ru_stime
        for u in map(resource.getrusage, [resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN]))


class Watch:
    """Judges runs."""

    def __init__(self, cores, waits):
        self.cores = cores
        self.waits = waits
        # How many runs were thrown away, by reason.
        self.thrown = collections.Counter()

    def run(self, measure, judges_speed):
        """What `measure` returns, and why the run does not count (see `verdict`), or None.

        A sample tells itself from when to when it was taken.
        """
        if self.waits:
            self.wait()
        usage, start = Usage(), time.monotonic()
        result = measure()
        steal, foreign = usage.since()
        window = getattr(result, "window", None) or (start, time.monotonic())
        slow = self.cores.slow_share(*window) if judges_speed else 0
        return result, verdict(steal, foreign, slow)

    def wait(self):
        """Returns when the cores are free of others and fast, or after a while."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            usage, start = Usage(), time.monotonic()
            time.sleep(LOOK_SECONDS)
            # A single tick of the clock is no process.
            _, foreign = usage.since()
            is_free = foreign <= FOREIGN_LIMIT + 1 / TICK / LOOK_SECONDS
            if is_free and self.cores.slow_share(start, time.monotonic()) == 0:
                return


class Usage:
    """How the cores are used from now on."""

    def __init__(self):
        self.start = time.monotonic()
        self.others = others_seconds()
        self.steal, self.total = stolen_times()

    def since(self):
        """The share of all time that was stolen, and what others took, as a share of one core."""
        steal, total = stolen_times()
        foreign = (others_seconds() - self.others) / (time.monotonic() - self.start)
        return (steal - self.steal) / max(total - self.total, 1 / TICK), foreign


def verdict(steal, foreign, slow):
    """Why a run does not count, in short and in full; None where it does."""
    if steal > STEAL_LIMIT:
        return "time stolen", f"{steal:.1%} of the time was stolen"
    if foreign > FOREIGN_LIMIT:
        return "other processes", f"other processes took {foreign:.0%} of a core"
    if slow > SLOW_LIMIT:
        return "slow core", f"a core was slower than it can be for {slow:.0%} of the run"
    return None


def first_match(pattern, text):
    found = re.search(pattern, text, re.M)
    return found[1].strip() if found else "unknown"


def said(*command):
    """What a command says, on whichever stream; empty where it is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except OSError:
        return ""
    return done.stdout + done.stderr


def facts(program):
    """The machine and the versions, by name."""
    memory = first_match(r"^MemTotal:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text())
    return {
        "processor": first_match(r"^model name\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text()),
        "cores": os.cpu_count(),
        "memory": f"{round(int(memory) / 1024 / 1024)} GiB",
        "kernel": platform.release().split("-")[0],
        "system": first_match(r'^PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text()),
        "lookahead": lookahead_version(program),
        "swift": first_match(r"Swift version ([\d.]+)", said("swift", "--version")),
        "sqlite": package_version("libsqlite3-0"),
        "nginx": first_match(r"nginx/([\d.]+)", said("nginx", "-v")),
        "go": first_match(r"go([\d.]+)", said("go", "version")),
        "wrk": package_version("wrk"),
    }


def package_version(name):
    version = said("dpkg-query", "--show", "--showformat", "${Version}", name)
    # Of what is not installed it says so.
    return "unknown" if version.startswith("dpkg-query") else version.split("-")[0] or "unknown"


def lookahead_version(program):
    """The program's own version, and the commit of this folder where it was built here."""
    version = said(str(program), "--version").strip()
    if os.environ.get("LOOKAHEAD_PROGRAM"):
        return version
    commit = said("git", "rev-parse", "--short", "HEAD").strip()
    changed = "+" if said("git", "status", "--porcelain", "--", "Sources", "Migrations") else ""
    return f"{version} ({commit}{changed})"
