#!/usr/bin/env python3
"""Measures Lookahead beside its peers: the rows of the table in docs/benchmarks.md.

Called by script/bench, which says how; prints a table for each row, keeps what was found as JSON.
"""

import argparse
import os
import pathlib
import resource
import signal
import sys
import tempfile

import document
import machine
import install
from context import Bench, NotYet
from cores import Cores
from load import LoadError
from results import Results
from rows import ROWS
from tables import print_row

EXTRA = ["sizes", "ten-million", "connections", "loops"]
# Rows that take minutes.
SLOW = ["postgres"]


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", metavar="ROW", choices=list(ROWS),
                        help="these rows: " + ", ".join(ROWS))
    parser.add_argument("--sizes", nargs="*", type=int, metavar="POSTS",
                        help="cost against size: 1000 to 3 000 000 posts, or these numbers")
    parser.add_argument("--connections", action="store_true",
                        help="cost against connections, and against event loops")
    parser.add_argument("--quick", action="store_true",
                        help="three runs instead of nine, without the slowest peers and without PostgreSQL")
    parser.add_argument("--with-hummingbird", action="store_true",
                        help="build and measure Hummingbird + GRDB, too: some minutes of building")
    parser.add_argument("--runs", type=int, metavar="N", help="so many runs of each, 9 by default")
    parser.add_argument("--seconds", type=int, metavar="N", help="each so long, 1 by default")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE",
                        help="where results are kept; .build/bench/results.json by default")
    parser.add_argument("--accept-busy", action="store_true",
                        help="count every run, whatever else the machine did, and keep no results: "
                        "to try the program, not to measure")
    parser.add_argument("--report", action="store_true",
                        help="measure nothing, print what was measured before")
    parser.add_argument("--write", action="store_true",
                        help="write all that is kept to docs/benchmarks.md, with charts")
    return parser.parse_args()


def wanted_rows(options):
    """The names of what is to be measured."""
    if options.report:
        return []
    if options.only:
        return options.only
    if options.sizes is not None:
        return ["sizes"]
    if options.connections:
        return ["connections", "loops"]
    left_out = EXTRA + (SLOW if options.quick else [])
    return [name for name in ROWS if name not in left_out]


def measure(bench, names, results, options):
    """Measures the rows; the names of those that could not be."""
    failed = []
    for name in names:
        print(f"\n{name}", flush=True)
        bench.watch.thrown.clear()
        try:
            row = ROWS[name](bench)
        except NotYet as reason:
            print(f"{name}: {reason}", flush=True)
            continue
        except (machine.TooBusy, LoadError, install.Missing) as reason:
            print(f"{name} was not measured: {reason}", flush=True)
            failed.append(name)
            continue
        if not options.accept_busy:
            results.add(name, row, bench)
        print_row(name, row, bench.watch.thrown)
    return failed


def end(number, _):
    """Leaves by way of every `with`, so that no server stays behind."""
    sys.exit(128 + number)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, end)
    root = pathlib.Path(__file__).resolve().parents[1]
    built = root / ".build" / "bench"
    machine.require_two_cores()
    os.sched_setaffinity(0, {int(machine.LOAD_CORE)})
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    results = Results(options.json or built / "results.json")
    names = wanted_rows(options)
    with tempfile.TemporaryDirectory(prefix="lookahead-bench-") as folder, \
            Cores([machine.SERVER_CORE, machine.LOAD_CORE]) as cores:
        bench = Bench(options, pathlib.Path(folder), built, cores)
        failed = measure(bench, names, results, options)
    if options.report:
        for name in results.names():
            print_row(name, results.row(name), results.thrown(name))
    if options.write:
        document.write(root / "docs", results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
