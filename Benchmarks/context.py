"""What every row needs: the program, the data, how often and how long, and the rule."""

import time

from data import Data
from machine import TooBusy, Watch
from load import wrk
from runs import Contest

RUNS, SECONDS = 7, 2
QUICK_RUNS, QUICK_SECONDS = 3, 1
# How often a run is tried; the rests between two tries grow: slow spells last minutes.
TRIES, QUICK_TRIES = 40, 8
LONGEST_REST_SECONDS = 10


class NotYet(Exception):
    """A row has its place, and nothing to measure."""


class Bench:
    """The setting of one call of script/bench."""

    def __init__(self, options, folder, built, cores):
        self.program = options.program
        self.is_quick = options.quick
        self.accepts_busy = options.accept_busy
        self.with_hummingbird = options.with_hummingbird
        self.sizes = options.sizes
        self.runs = options.runs or (QUICK_RUNS if options.quick else RUNS)
        self.seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
        self.tries = QUICK_TRIES if options.quick else TRIES
        # For this call, and for all.
        self.folder = folder
        self.built = built
        self.data = Data(options.program, built / "data")
        self.watch = Watch(cores, waits=not options.accept_busy)

    def kept(self, measure, processes=()):
        """What `measure` finds in a run that had its cores; others are thrown away and repeated."""
        for tried in range(self.tries):
            time.sleep(min(tried, LONGEST_REST_SECONDS))
            result, fault = self.watch.run(measure, processes)
            if fault is None or self.accepts_busy:
                return result
            self.watch.thrown += 1
            print(f"  thrown away: {fault}", flush=True)
        raise TooBusy(f"{self.tries} runs in a row were thrown away, the last one because {fault}")

    def contest(self, contenders, warm_up=True):
        """Lets the contenders run in turn, A B A B …; the line of each by name."""
        return Contest(self, contenders).run(warm_up)

    def load(self, server, path=None, **more):
        """A run of wrk against the server's page, to be called later."""
        return lambda: wrk(server, path or server.page, self.seconds, **more)
