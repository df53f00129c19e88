"""What every row needs: the program, the data, how often and how long, and the rule."""

import time

from data import Data
from machine import TooBusy, Watch
from load import wrk
from runs import Contest

# Runs are short: at times a core keeps its speed for little longer than a second.
RUNS, QUICK_RUNS, SECONDS = 9, 3, 1
# How long to try for one run that counts.
PATIENCE_SECONDS, QUICK_PATIENCE_SECONDS = 150, 20


class Bench:
    """The setting of one call of script/bench."""

    def __init__(self, options, folder, built, cores):
        self.program = options.program
        self.is_quick = options.quick
        self.accepts_busy = options.accept_busy
        self.with_hummingbird = options.with_hummingbird
        self.sizes = options.sizes
        self.runs = options.runs or (QUICK_RUNS if options.quick else RUNS)
        self.seconds = options.seconds or SECONDS
        self.patience_seconds = QUICK_PATIENCE_SECONDS if options.quick else PATIENCE_SECONDS
        # For this call, and for all.
        self.folder = folder
        self.built = built
        self.data = Data(options.program, built / "data")
        self.watch = Watch(cores, waits=not options.accept_busy)

    def kept(self, measure, judges_speed=True):
        """What `measure` finds in a run that had its cores; others are thrown away and repeated."""
        end = time.monotonic() + self.patience_seconds
        while True:
            result, fault = self.watch.run(measure, judges_speed)
            if fault is None or self.accepts_busy:
                return result
            reason, said = fault
            self.watch.thrown[reason] += 1
            if time.monotonic() > end:
                raise TooBusy(f"no run counted in {self.patience_seconds} s; in the last, {said}")

    def contest(self, contenders):
        """Lets the contenders run in turn, A B A B …; the line of each by name."""
        return Contest(self, contenders).run()

    def load(self, server, path=None, **more):
        """A run of wrk against the server's page, to be called later."""
        return lambda: wrk(server, path or server.page, self.seconds, **more)
