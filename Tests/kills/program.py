"""The program that is killed, and what can be asked of what it leaves."""

import pathlib
import shutil
import sqlite3
import subprocess

from checks import require
from running import environment

TIMEOUT_SECONDS = 120


class Program:
    def __init__(self, path):
        self.path = str(path)

    def status(self, arguments, before=()):
        """Its exit status, below zero where a signal ended it, and what it said."""
        done = subprocess.run(
            [*before, self.path, *map(str, arguments)], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=TIMEOUT_SECONDS, env=environment())
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def run(self, *arguments):
        """What it writes to its output; it has to end well."""
        status, output, errors = self.status(arguments)
        command = " ".join(map(str, arguments))
        require(status == 0, f"`{command}`: status {status}: {output.decode()[:500]}{errors[:500]}")
        return output

    def check(self, database):
        self.run("check", "--database", database)

    def export(self, database):
        return self.run("export", "--database", database)

    def content(self, database):
        """What a sound database holds; nothing where there is none."""
        if not database.exists():
            return None
        self.check(database)
        return self.export(database)

    def backup_content(self, backup, scratch):
        """What a backup holds, restored elsewhere; nothing where there is none."""
        if not backup.exists():
            return None
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        self.run("restore", "--database", scratch / "tried.sqlite", backup)
        return self.content(scratch / "tried.sqlite")


def dump(database):
    """All that SQLite holds but for what two runs never have alike."""
    connection = sqlite3.connect(database)
    try:
        require(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "not sound")
        if not connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
            return ""
        connection.execute("UPDATE schema_migration SET applied_at = ''")
        # Each database has a number of its own, by which readers of its changes know it.
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'change_source'").fetchall():
            connection.execute("UPDATE change_source SET source = 0")
        return "\n".join(connection.iterdump())
    finally:
        connection.close()


def names(folder):
    """The names of all files in the folder, but for what SQLite leaves where it is killed between making
    a temporary file and removing its name: one without content."""
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*")
            if not (path.name.startswith("etilqs_") and path.stat().st_size == 0)}


def size(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())
