"""A command that is killed, and those that change posts: where each begins, and what has to hold after."""

import contextlib
import json
import shutil
import sqlite3

from checks import require
from running import RunningServer, TOKEN

DATABASE = "feed.sqlite"
BATCH_RECORDS = 50


def posts(count, title, rank, longest_text=900):
    """Posts in a ranked feed and in one by time, as seeding reads them."""
    return "".join(
        json.dumps({
            "id": f"p{number:05}", "type": "image", "title": title, "text": "x" * (number * 37 % longest_text),
            "publishedAt": f"2026-01-01T{number // 60 % 24:02}:{number % 60:02}:00Z",
            "feeds": [{"name": "ranked", "rank": rank(number)}, {"name": "timed"}]}) + "\n"
        for number in range(count))


def by_id(export):
    """The exported posts by id."""
    records = (json.loads(line) for line in export.decode().splitlines())
    return {record["id"]: record for record in records if "id" in record}


def hot_database(program, folder, count, longest_text=900):
    """A database as a server leaves it that is killed: the last writes are in its log alone."""
    records = folder / "records"
    records.write_text(posts(count, "first", lambda number: number, longest_text))
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
    # The file on which runs of records hold their locks is empty, and goes with the next one that ends.
    leftovers = {DATABASE + "-wal", DATABASE + "-shm", DATABASE + "-journal", DATABASE + "-runs"}

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


class FirstSeed(Command):
    """Loads posts into a database without any, whose index of posts by author it makes last."""

    name = "first seed"
    count = 600
    # Each in a transaction of its own.
    late = {"post_by_author", "media_by_url", "author_added"}

    def prepare(self, folder):
        self.program.run("migrate", "up", "--database", folder / DATABASE)
        (folder / "input").write_text("".join(
            json.dumps({"id": f"p{number:05}", "type": "text", "feeds": [{"name": "all"}],
                        "author": {"id": f"a{number * 7 % 100}"}}) + "\n"
            for number in range(self.count)))

    def arguments(self, folder):
        return ["seed", "--database", folder / DATABASE, "--batch-records", BATCH_RECORDS,
                folder / "input"]

    def state(self, folder):
        return super().state(folder), self.made(folder)

    def made(self, folder):
        """What of it there is that is made last."""
        with contextlib.closing(sqlite3.connect(folder / DATABASE)) as connection:
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        return self.late & names

    def after_kill(self, folder, before, after):
        now, new = by_id(self.program.content(folder / DATABASE)), by_id(after[0])
        first = sorted(new)[:len(now)]
        require(len(now) % BATCH_RECORDS == 0 and sorted(now) == first,
                f"{len(now)} posts are not whole batches of {BATCH_RECORDS} from the first on")
        with RunningServer(self.program.path, folder, "--log-level", "warning") as server:
            server.kill()
        require(self.made(folder) == self.late, "the next to open it does not make what is missing")


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
        # So much that SQLite needs a temporary file for it.
        hot_database(self.program, folder, 1000, longest_text=6000)
        self.program.run("prune", "--database", folder / DATABASE, "--keep-posts", "700")

    def arguments(self, folder):
        return ["vacuum", "--database", folder / DATABASE]

    def state(self, folder):
        return super().state(folder), (folder / DATABASE).stat().st_size

    def after_kill(self, folder, before, after):
        require(self.program.content(folder / DATABASE) == before[0], "the content has changed")


def copy_of(folder, target):
    """A copy of a folder, in place of what was there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target
