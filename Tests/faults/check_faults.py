#!/usr/bin/env python3
"""Lets system calls of commands and of a server fail, and judges by what was answered.

    PYTHONPATH=Tests/load:Tests/kills check_faults.py PROGRAM [SECONDS] [--seed N] [--only NAME]

SECONDS (240) is about how long it takes in all. Prints a line for each command, and how many faults of each kind
there were. Exit status 0 where all holds, 1 where something does not, or a fault never came to be; what a failed
round left is kept, and its folder named.
"""

import argparse
import collections
import pathlib
import random
import shutil
import sys
import tempfile
import time

import clocks
import faults
from checks import Checks, Failed, require
from commands_with_faults import KINDS, Commanding
from faults import ALWAYS, ERRORS, Fault
from program import Program
from serving_with_faults import Serving, Starting

SECONDS = 240
MOST_FAILURES = 5
# So often is tried to have a fault that did not come to be.
TRIES = 6


class Trying:
    """One program's work, and the faults that were had with it."""

    def __init__(self, work, fired, random):
        self.work = work
        self.fired = fired
        self.random = random
        self.rounds = 0
        self.failures = []
        self.calls = {}
        self.deck = []

    def pairs(self):
        return [(kind, error) for kind in self.calls for error in ERRORS[kind]]

    def drawn(self):
        """Each kind and error once, in any order, and again."""
        if not self.deck:
            self.deck = self.pairs()
            # What nobody has had yet comes first: it lies on top.
            self.random.shuffle(self.deck)
            self.deck.sort(key=lambda pair: self.fired[pair] == 0)
        return self.deck.pop()

    def round(self, kind, error, number=None):
        number = number or self.random.randint(1, self.calls[kind])
        # No call is interrupted for ever, and no output that poll(2) calls ready refuses each write: the program
        # tries again.
        most = 50 if error == "EINTR" or (kind, error) == ("write", "EAGAIN") else ALWAYS
        fault = Fault(kind, error, number, self.random.choice([1, 1, 2, most]))
        self.rounds += 1
        try:
            self.fired[kind, error] += self.work.round(fault, self.random)
        except Failed as failure:
            self.failures.append(f"{faults.described(fault)}: {failure}")
            print(f"  {self.work.name}: {self.failures[-1]}", flush=True)
            return False
        return True

    def check(self, seconds):
        self.calls = self.work.prepare()
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(self.failures) < MOST_FAILURES:
            if not self.round(*self.drawn()) and not self.recover():
                break
        first = self.failures[0] if self.failures else ""
        require(not self.failures, f"{len(self.failures)} of {self.rounds} rounds failed: {first}")
        return f"{self.rounds} faults; {self.work.found()}"

    def recover(self):
        """Whether the next round can begin after one that failed."""
        return isinstance(self.work, (Commanding, Starting))


def check_all(trying, fired):
    """Each error of each kind that occurs has come to be."""
    occurring = {kind for one in trying for kind in one.calls}
    missing = [kind for kind in ERRORS if kind not in occurring]
    require(not missing, f"never called: {', '.join(missing)}")
    for pair in [(kind, error) for kind in ERRORS for error in ERRORS[kind]]:
        able = [one for one in trying if pair[0] in one.calls and not one.failures]
        for number in range(TRIES):
            if fired[pair] or not able:
                break
            one = able[number % len(able)]
            # Early calls are the likeliest to come.
            if not one.round(*pair, number=1 if number >= TRIES // 2 else None):
                break
    failures = [failure for one in trying for failure in one.failures]
    never = [f"{kind} {error}" for kind in ERRORS for error in ERRORS[kind] if not fired[kind, error]]
    for kind in ERRORS:
        print(f"  {kind:11}" + ", ".join(f"{error} {fired[kind, error]}" for error in ERRORS[kind]))
    require(not never, f"never: {', '.join(never)}")
    require(not failures, failures[0] if failures else "")
    return f"{sum(fired.values())} faults of {len(fired)} kinds"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("seconds", nargs="?", type=int, default=SECONDS)
    parser.add_argument("--seed", default=str(random.randrange(1 << 32)))
    parser.add_argument("--only")
    options = parser.parse_args()

    checks = Checks()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lookahead-faults-")).resolve()
    library, reason = faults.build(folder)
    if library is None:
        print(f"script/check-faults: nothing was checked, {reason}")
        return 2
    print(f"random seed {options.seed}", flush=True)
    program = Program(options.program)
    fired = collections.Counter()
    trying = []

    def add(make, name, *arguments):
        if options.only not in (None, name):
            return
        place = folder / name.replace(" ", "-").replace(",", "")
        place.mkdir()
        work = make(*arguments, library, place, options.seed)
        trying.append(Trying(work, fired, random.Random(f"{options.seed}.{name}")))

    for kind in KINDS:
        add(Commanding, kind.name, kind, program)
    for kind in (Starting, Serving):
        add(kind, kind.name, program)
    # A server takes as long as four commands.
    shares = [4 if isinstance(one.work, Serving) else 1 for one in trying]
    try:
        for one, share in zip(trying, shares):
            checks.run(one.work.name, one.check, options.seconds * share / sum(shares))
        if options.only is None:
            checks.run("every kind of fault", check_all, trying, fired)
        if options.only in (None, clocks.NAME):
            place = folder / "clocks"
            place.mkdir()
            checks.run(clocks.NAME, clocks.check, program, library, place)
    finally:
        for one in trying:
            one.work.end_all()
    status = checks.status()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what was left lies in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
