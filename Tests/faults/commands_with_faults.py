"""A command some of whose system calls fail: it ends, says so, leaves what is whole, and may be run again."""

import contextlib
import shutil
import sqlite3
import subprocess

import commands
import copies
import migrations
from checks import Failed, require
from faults import Faults
from program import names
from running import FIXTURES


class MediaAdd(commands.Command):
    """Finds out about files, some of which posts name."""

    name = "media add"
    files = ["ad-paint/0.mp4", "blue-hour/0.avif", "blue-hour/thumbnail.webp"]

    def prepare(self, folder):
        super().prepare(folder)
        for file in self.files:
            target = folder / "media" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(FIXTURES / "media" / file, target)

    def arguments(self, folder):
        return ["media", "add", "--database", folder / commands.DATABASE, folder / "media"]

    def state(self, folder):
        return super().state(folder), self.known(folder)

    def known(self, folder):
        """What is known of each file."""
        with contextlib.closing(sqlite3.connect(folder / commands.DATABASE)) as connection:
            return sorted(connection.execute(
                "SELECT url, version, hex(truth) FROM media_file JOIN media_truth USING (truth_id)"))

    def after_kill(self, folder, before, after):
        found, known = self.state(folder)
        require(found == before[0], "the posts have changed")
        # Of a file that could not be read it is known that it could not.
        unknown = {row[0] for row in known} - {row[0] for row in after[1]}
        require(not unknown, f"known of no file: {unknown}")


KINDS = [
    commands.Seed, commands.FirstSeed, commands.Prune, commands.Vacuum, copies.Backup, copies.CompressedBackup,
    copies.Restore, copies.RestoreOver, migrations.Migrate, migrations.MigrateOld, MediaAdd,
]


class Commanding:
    """One command, and what has to hold of it after each fault."""

    def __init__(self, kind, program, library, folder, seed):
        self.command = kind(program)
        self.name = self.command.name
        self.folder = folder
        self.template, self.work, self.copy = (folder / name for name in ("template", "work", "copy"))
        self.faults = Faults(library, folder / "faults")
        self.ended_well = self.said_so = 0

    def prepare(self):
        """Runs it without faults, for what it leaves and which calls it makes; how often each."""
        self.template.mkdir()
        self.command.prepare(self.template)
        self.before = self.state_of(self.template)
        commands.copy_of(self.template, self.work)
        self.faults.begin()
        self.run_well()
        self.names_after = names(self.work)
        calls = self.faults.all_calls()
        self.after = self.state_of(self.work)
        return calls

    def state_of(self, folder):
        return self.command.state(commands.copy_of(folder, self.copy))

    def status(self):
        try:
            status, output, errors = self.command.program.status(
                self.command.arguments(self.work), self.faults.before)
        except subprocess.TimeoutExpired:
            raise Failed("it does not end") from None
        return status, output.decode(errors="replace") + errors

    def run_well(self):
        status, said = self.status()
        require(status == 0, f"without a fault: status {status}: {said[:500]}")

    def round(self, fault, _):
        """How often it failed."""
        commands.copy_of(self.template, self.work)
        self.faults.begin()
        self.faults.arm(fault)
        status, said = self.status()
        fired = self.faults.fired(fault.kind)
        self.faults.disarm()
        if status == 0:
            self.ended_well += 1
            require(self.state_of(self.work) == self.after, f"status 0, and its work is not done: {said[:300]}")
            return fired
        self.said_so += 1
        require(status == 1, f"status {status}: {said[:500]}")
        require(said.strip() or fault.kind == "write", "status 1 without a word")
        self.command.after_kill(commands.copy_of(self.work, self.copy), self.before, self.after)
        unknown = names(self.work) - names(self.template) - self.names_after - self.command.leftovers
        require(not unknown, f"files of unknown names are left: {sorted(unknown)}")
        result = self.command.result(self.work)
        if result is None or not result.exists():
            self.run_well()
        require(self.state_of(self.work) == self.after,
                "run again, it ends in another state than without the fault")
        return fired

    def found(self):
        return f"{self.ended_well} ended well all the same, {self.said_so} said what was wrong"

    def end_all(self):
        pass
