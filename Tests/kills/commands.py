"""What each command that writes is killed in: where it begins, and what has to hold afterwards."""

import json
import pathlib
import shutil
import sqlite3

from checks import require
from program import dump
from running import RunningServer, TOKEN

DATABASE = "feed.sqlite"
BATCH_RECORDS = 50
MIGRATIONS = pathlib.Path(__file__).parents[2] / "Migrations"
KNOWN_MIGRATIONS = len(list(MIGRATIONS.glob("*.sql")))


def posts(count, title, rank):
    """Posts in a ranked feed and in one by time, as seeding reads them."""
    return "".join(
        json.dumps({
            "id": f"p{number:05}", "type": "image", "title": title, "text": "x" * (number * 37 % 900),
            "publishedAt": f"2026-01-01T{number // 60 % 24:02}:{number % 60:02}:00Z",
            "feeds": [{"name": "ranked", "rank": rank(number)}, {"name": "timed"}]}) + "\n"
        for number in range(count))


def by_id(export):
    """The exported posts by id."""
    records = (json.loads(line) for line in export.decode().splitlines())
    return {record["id"]: record for record in records if "id" in record}


def hot_database(program, folder, count):
    """A database as a server leaves it that is killed: the last writes are in its log alone."""
    records = folder / "records"
    records.write_text(posts(count, "first", lambda number: number))
    program.run("seed", "--database", folder / DATABASE, records)
    records.unlink()
    with RunningServer(program.path, folder, "--log-level", "warning") as server:
        for number in range(5):
            status = server.ask(
                "PUT", f"/v1/items/hot-{number}", {"type": "text", "title": f"hot {number}"}, TOKEN)[0]
            require(status == 201, f"PUT: {status}")
        server.kill()
    (folder / "server.log").unlink()
    require((folder / (DATABASE + "-wal")).stat().st_size > 0, "the database has no log")


class Command:
    """One command in a folder. `before` and `after` are what the folder is like without a kill."""

    name = ""
    # Files that a kill may leave beside those of before and after, until the command runs again.
    leftovers = {DATABASE + "-wal", DATABASE + "-shm", DATABASE + "-journal"}

    def __init__(self, program):
        self.program = program

    def prepare(self, folder):
        """Makes what is there before."""
        hot_database(self.program, folder, 400)

    def arguments(self, folder):
        raise NotImplementedError

    def state(self, folder):
        """All that a run leaves, so that two runs can be compared."""
        return self.program.content(folder / DATABASE)

    def result(self, folder):
        """What a run that was killed after its work leaves, and another one then refuses to replace."""
        return None

    def after_kill(self, folder, before, after):
        """Sees that what a kill left is whole. The folder is a copy."""
        raise NotImplementedError


class Seed(Command):
    """Changes and moves all posts and adds some, batch by batch."""

    name = "seed"
    # Above this the input has posts that are new.
    old = 400
    moved = 600

    def prepare(self, folder):
        super().prepare(folder)
        (folder / "input").write_text(posts(self.moved, "second", lambda number: 5000 - number))

    def arguments(self, folder):
        return ["seed", "--database", folder / DATABASE, "--batch-records", BATCH_RECORDS,
                folder / "input"]

    def after_kill(self, folder, before, after):
        found = self.program.content(folder / DATABASE)
        old, now, new = by_id(before), by_id(found), by_id(after)
        done = {id for id, post in now.items() if post.get("title") == "second"}
        whole = {f"p{number:05}" for number in range(len(done))}
        require(done == whole and len(done) % BATCH_RECORDS == 0,
                f"{len(done)} posts are not whole batches of {BATCH_RECORDS} from the first on")
        require(set(old) <= set(now) <= set(new), "posts are gone, or came from nowhere")
        for id, post in now.items():
            expected = new[id] if id in done else old[id]
            require(without_feeds(post) == without_feeds(expected), f"{id}: {post}")
        with RunningServer(self.program.path, folder, "--log-level", "warning") as server:
            order = [id for id in walk(server, "ranked") if id in old]
            server.kill()
        first = [f"p{number:05}" for number in range(self.old)]
        require(order in (first, first[::-1]), "half of a ranking is to be seen")


def walk(server, feed):
    """The ids of a feed as its pages have them."""
    path, ids = f"/rp/?feed={feed}&limit=100", []
    while path:
        status, _, body = server.get(path)
        require(status == 200, f"{path}: {status}")
        page = json.loads(body)
        ids += [item["id"] for item in page["items"]]
        path = page["paging"]["links"].get("next")
    return ids


def without_feeds(post):
    return {name: value for name, value in post.items() if name != "feeds"}


class Prune(Command):
    """Removes most posts, batch by batch."""

    name = "prune"

    def arguments(self, folder):
        return ["prune", "--database", folder / DATABASE, "--keep-posts", "50"]

    def after_kill(self, folder, before, after):
        found = set(self.program.content(folder / DATABASE).splitlines())
        require(found <= set(before.splitlines()), "what stays has changed")
        require(found >= set(after.splitlines()), "what should stay is gone")


class Vacuum(Command):
    """Rewrites a database most of which is unused."""

    name = "vacuum"

    def prepare(self, folder):
        super().prepare(folder)
        self.program.run("prune", "--database", folder / DATABASE, "--keep-posts", "50")

    def arguments(self, folder):
        return ["vacuum", "--database", folder / DATABASE]

    def state(self, folder):
        return super().state(folder), (folder / DATABASE).stat().st_size

    def after_kill(self, folder, before, after):
        require(self.program.content(folder / DATABASE) == before[0], "the content has changed")


class Backup(Command):
    """A backup where there is none."""

    name = "backup"
    backup = "backup.sqlite"
    options = []
    leftovers = Command.leftovers | {
        f"backup.sqlite{gz}{partial}{companion}" for gz in ("", ".gz")
        for partial in (".partial", ".copy.partial") for companion in ("", "-journal", "-wal", "-shm")}

    def arguments(self, folder):
        return ["backup", "--database", folder / DATABASE, folder / self.backup, *self.options]

    def result(self, folder):
        return None if self.options else folder / self.backup

    def state(self, folder):
        """The database, and what its backup holds."""
        scratch = folder.parent / "tried"
        return (super().state(folder),
                self.program.backup_content(folder / self.backup, scratch))

    def after_kill(self, folder, before, after):
        database, backup = self.state(folder)
        require(database == before[0], "the database has changed")
        require(backup in (before[1], after[1]), "the backup is neither the old nor the new one")


class CompressedBackup(Backup):
    """A compressed backup in the place of an older one."""

    name = "backup --compress --overwrite"
    backup = "backup.sqlite.gz"
    options = ["--compress", "--overwrite"]

    def prepare(self, folder):
        super().prepare(folder)
        self.program.run("seed", "--database", folder / "older", "--generate", 200)
        self.program.run("backup", "--database", folder / "older", folder / self.backup, "--compress")
        (folder / "older").unlink()


class Restore(Command):
    """A backup where there is no database."""

    name = "restore"
    options = []
    leftovers = Command.leftovers | {
        f"{DATABASE}.restoring{companion}" for companion in ("", "-journal", "-wal", "-shm")}

    def prepare(self, folder):
        self.make_backup(folder)

    def make_backup(self, folder):
        self.program.run("seed", "--database", folder / "other", "--generate", 300)
        self.program.run("backup", "--database", folder / "other", folder / "backup.gz", "--compress")
        (folder / "other").unlink()

    def arguments(self, folder):
        return ["restore", "--database", folder / DATABASE, folder / "backup.gz", *self.options]

    def result(self, folder):
        return None if self.options else folder / DATABASE

    def after_kill(self, folder, before, after):
        require(self.state(folder) in (before, after), "neither the old nor the new database is there")


class RestoreOver(Restore):
    """A backup in the place of a database that has its last writes in the log."""

    name = "restore --overwrite"
    options = ["--overwrite"]

    def prepare(self, folder):
        hot_database(self.program, folder, 400)
        self.make_backup(folder)


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
    applied = 2


ALL = [Seed, Prune, Vacuum, Backup, CompressedBackup, Restore, RestoreOver, Migrate, MigrateOld]


def copy_of(folder, target):
    """A copy of a folder, in place of what was there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target
