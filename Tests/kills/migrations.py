"""Migrations: each is there as a whole, and what was there before stays."""

import pathlib
import sqlite3

from checks import require
from commands import DATABASE, Command
from program import dump

MIGRATIONS = pathlib.Path(__file__).parents[2] / "Migrations" / "sqlite"


class Migrate(Command):
    """All migrations on nothing."""

    name = "migrate up"
    applied = 0

    def prepare(self, folder):
        if self.applied == 0:
            return
        # What a program of that time left: its schema, its records of it, and a post.
        self.program.run("migrate", "up", "--database", folder / "newest")
        with sqlite3.connect(folder / "newest") as newest:
            table = newest.execute(
                "SELECT sql FROM sqlite_schema WHERE name = 'schema_migration'").fetchone()[0]
            records = newest.execute("SELECT * FROM schema_migration").fetchall()[:self.applied]
            owner = newest.execute("PRAGMA application_id").fetchone()[0]
        newest.close()
        for path in folder.glob("newest*"):
            path.unlink()
        old = sqlite3.connect(folder / DATABASE)
        old.execute("PRAGMA journal_mode = WAL")
        old.execute(f"PRAGMA application_id = {owner}")
        old.execute(table)
        old.executemany("INSERT INTO schema_migration VALUES (?, ?, ?, ?)", records)
        for file in sorted(MIGRATIONS.glob("*.sql"))[:self.applied]:
            old.executescript(file.read_text())
        old.execute("INSERT INTO post (id, type, title) VALUES ('p', 'text', 'A post')")
        old.commit()
        old.close()

    def arguments(self, folder):
        return ["migrate", "up", "--database", folder / DATABASE]

    def state(self, folder):
        if not (folder / DATABASE).exists():
            return None
        return dump(folder / DATABASE)

    def after_kill(self, folder, before, after):
        database = folder / DATABASE
        if not database.exists() or database.stat().st_size == 0:
            require(self.applied == 0, "the database is gone")
            return
        with sqlite3.connect(database) as opened:
            require(opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "not sound")
            tables = opened.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            versions = [] if tables == 0 else [
                row[0] for row in opened.execute("SELECT version FROM schema_migration ORDER BY 1")]
            titles = [] if not versions else opened.execute("SELECT title FROM post").fetchall()
        opened.close()
        require(versions == list(range(1, len(versions) + 1)), f"migrations {versions}")
        require(len(versions) >= self.applied, "a migration is gone")
        require(titles == [("A post",)] * (self.applied > 0), f"posts {titles}")
        if versions:
            self.program.run("migrate", "verify", "--database", database)


class MigrateOld(Migrate):
    """What is pending of a database that an older program made."""

    name = "migrate up, from an older database"
    # All but the last one; 0 while there is one in all, and then no database is older.
    applied = len(list(MIGRATIONS.glob("*.sql"))) - 1
