#!/usr/bin/env python3
"""Kills every command that writes, and a server under writes, at their n-th system calls.

    PYTHONPATH=Tests/load check_kills.py PROGRAM [SECONDS] [--seed N] [--quick] [--only NAME]

SECONDS (240) is about how long it takes in all. Prints a line for each command. Exit status 0 where all
holds, 1 where something does not; what a failed kill left is kept, and its folder named.
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import time

import beside
import commands
import copies
import migrations
import serving
import strace
from checks import Checks, Failed, require
from program import Program, names, size

KINDS = [
    commands.Seed, commands.FirstSeed, commands.Prune, commands.Vacuum, copies.Backup, copies.CompressedBackup,
    copies.Restore, copies.RestoreOver, migrations.Migrate,
] + ([migrations.MigrateOld] if migrations.MigrateOld.applied > 0 else [])
SECONDS = 240
QUICK_SECONDS = 40
# This many kills in one folder without a run that ends leave no more than one kill does.
PILED_KILLS = 100
# What ends so often in a row has nothing left to do, and is killed no more.
DONE_AFTER = 10


class Killing:
    """One command: what it is like without a kill, and the kills."""

    def __init__(self, command, folder, random):
        self.command = command
        self.random = random
        self.template = folder / "template"
        self.work = folder / "work"
        self.copy = folder / "copy"
        self.trace = folder / "trace"
        self.kills = self.ended = 0
        self.template.mkdir()

    def prepare(self):
        """Runs it twice without a kill: for what it leaves, and for the calls that it makes."""
        self.command.prepare(self.template)
        self.before = self.state_of(self.template)
        work = commands.copy_of(self.template, self.work)
        self.run(work)
        self.names_after = names(work)
        self.most_bytes = 4 * max(size(work), size(self.template)) + (4 << 20)
        self.after = self.state_of(work)
        work = commands.copy_of(self.template, self.work)
        self.run(work, strace.recording(self.trace))
        self.calls = strace.calls(self.trace, self.work)
        require(self.calls, "it makes no system calls")

    def state_of(self, folder):
        return self.command.state(commands.copy_of(folder, self.copy))

    def run(self, folder, before=()):
        status, output, errors = self.command.program.status(self.command.arguments(folder), before)
        require(status == 0, f"status {status}: {output.decode()[:300]}{errors[:300]}")

    def kill(self, call):
        """Runs it with a kill there; whether it was killed and did not end before that."""
        arguments = self.command.arguments(self.work)
        status, output, errors = self.command.program.status(arguments, strace.killing(call))
        if status == 0:
            self.ended += 1
            return False
        require(status == -9, f"status {status}: {output.decode()[:300]}{errors[:300]}")
        self.kills += 1
        return True

    def round(self, call):
        """One kill, sometimes another one, and a run to the end."""
        commands.copy_of(self.template, self.work)
        try:
            self.killed_at = call
            self.kill(call)
            self.look()
            while not self.is_done() and self.random.random() < 0.25:
                self.killed_at = self.random.choice(self.calls)
                if not self.kill(self.killed_at):
                    break
                self.look()
            if not self.is_done():
                self.run(self.work)
            require(self.state_of(self.work) == self.after,
                    "run again, it ends in another state than without the kill")
        except Failed as failure:
            at = self.killed_at
            raise Failed(f"killed at {at.kind} {at.number}, {at.text}: {failure}") from None

    def is_done(self):
        result = self.command.result(self.work)
        return result is not None and result.exists()

    def look(self):
        """Looks at a copy, so that the command meets what the kill left and not what we made of it."""
        self.command.after_kill(
            commands.copy_of(self.work, self.copy), self.before, self.after)
        unknown = names(self.work) - names(self.template) - self.names_after - self.command.leftovers
        require(not unknown, f"files of unknown names are left: {sorted(unknown)}")

    def pile(self, kills):
        """Kills in one folder without a run that ends."""
        commands.copy_of(self.template, self.work)
        ends = 0
        for _ in range(kills):
            self.killed_at = self.random.choice(self.calls)
            ends = 0 if self.kill(self.killed_at) else ends + 1
            if ends == DONE_AFTER:
                break
            if self.is_done():
                self.command.result(self.work).unlink()
        self.look()
        require(size(self.work) <= self.most_bytes,
                f"{size(self.work)} bytes are left after {kills} kills")

    def check(self, seconds, piled):
        self.prepare()
        end = time.monotonic() + seconds
        order = strace.chosen(self.calls, self.random)
        tried = 0
        for call in order:
            if time.monotonic() > end:
                break
            self.round(call)
            tried += 1
        self.pile(piled)
        kinds = len({call.kind for call in order[:tried]})
        return (f"{self.kills} kills at {tried} of {len(order)} calls of {kinds} kinds"
                f"; {self.ended} ended before")


def check_command(kind, program, folder, seed, seconds, piled):
    place = folder / kind.__name__
    place.mkdir()
    found = Killing(kind(program), place, random.Random(f"{seed}.{kind.name}")).check(seconds, piled)
    shutil.rmtree(place)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("seconds", nargs="?", type=int)
    parser.add_argument("--seed", default=str(random.randrange(1 << 32)))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)

    checks = Checks()
    # strace shows the paths of open files without links in them.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lookahead-kills-")).resolve()
    reason = strace.why_unusable(folder)
    if reason:
        print(f"script/check-kills: nothing was checked, {reason}")
        return 2
    print(f"random seed {options.seed}", flush=True)
    program = Program(options.program)
    kinds = [kind for kind in KINDS if options.only in (None, kind.name)]
    serves = options.only in (None, "serve")
    besides = options.only in (None, "beside")
    # A server takes as long as three commands.
    share = seconds / (len(kinds) + 3 * serves + besides)
    piled = max(5, min(PILED_KILLS, PILED_KILLS * seconds // SECONDS))
    for kind in kinds:
        checks.run(kind.name, check_command, kind, program, folder, options.seed, share * 0.7, piled)
    if besides:
        checks.run("commands beside a server", beside.check, program, folder, options.seed, share)
    if serves:
        checks.run("serve, under writes", serving.check, program, folder, options.seed, 3 * share)
    status = checks.status()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what was left lies in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
