"""The lab's sweep: the article's grid, on both cores, on one, and with a fifth of its runs."""

import hashlib
import statistics
import tempfile
import time

from processes import Process, read
from rows.seeding import megabytes
from runs import ratio

# Of the grid that a sweep tries unless it is told otherwise.
SETTINGS = 5 * 5 * 5
ITEMS = 1000
REPEATS = 10
SECONDS = 10
STEP_SECONDS = 0.05


def measure(bench):
    contenders = {
        "on both cores": ("0,1", REPEATS), "on one core": ("0", REPEATS),
        "on both cores, a fifth of the runs": ("0,1", REPEATS // 5)}
    found = {name: [] for name in contenders}
    for _ in range(1 if bench.is_quick else bench.runs):
        for name, (cores, repeats) in contenders.items():
            found[name].append(
                bench.kept(lambda: sweep(bench, cores, repeats), judges_speed=False))
    lines = [{
        "name": name, "seconds": statistics.median(run["seconds"] for run in runs),
        "runs_rate": SETTINGS * contenders[name][1]
        / statistics.median(run["seconds"] for run in runs),
        "peak_mb": max(run["peak_mb"] for run in runs),
    } for name, runs in found.items()]
    both, one, few = lines
    said = {run["said"] for name in ["on both cores", "on one core"] for run in found[name]}
    return {
        "title": f"A sweep of {SETTINGS} settings × {REPEATS} seeds × {ITEMS} items",
        "to_reach": f"under {SECONDS} s on two cores, memory flat, the same bytes on one core and on two",
        "columns": ["name", "seconds", "runs_rate", "peak_mb"], "lines": lines,
        "ratios": [
            ratio("seconds on two cores", both["seconds"], SECONDS, at_least=False),
            ratio("rate on two cores against one", one["seconds"] / both["seconds"], 1.7,
                  at_least=True),
            ratio("memory against that of a fifth of the runs", both["peak_mb"] / few["peak_mb"],
                  1.5, at_least=False),
            ratio("different outputs of one seed", len(said), 1, at_least=False)],
    }


def sweep(bench, cores, repeats):
    """One sweep of a feed that is made up, watched from outside."""
    peak = 0
    start = time.monotonic()
    # More than a pipe holds.
    with tempfile.TemporaryFile() as output, Process(
            [bench.program, "lab", "sweep", "--items", str(ITEMS), "--repeats", str(repeats),
             "--jobs", str(len(cores.split(","))), "--format", "csv"],
            cores, output=output) as process:
        while process.is_running:
            status = read(f"/proc/{process.process.pid}/status")
            if "VmHWM" in status:
                peak = megabytes(status, "VmHWM")
            time.sleep(STEP_SECONDS)
        seconds = time.monotonic() - start
        output.seek(0)
        said = output.read()
    if process.process.returncode != 0:
        raise RuntimeError("lookahead lab sweep failed")
    return {"seconds": seconds, "peak_mb": peak, "said": hashlib.sha256(said).hexdigest()}
