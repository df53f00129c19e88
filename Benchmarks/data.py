"""The databases that are measured: seeded once and kept, seeded anew for another schema."""

import gzip
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
FEEDS = ROOT.parent / "shared" / "data" / "feeds"
GENERATED_POSTS = 300_000
FIXTURES = ROOT / "Fixtures"
FIXTURES_FEED = "featured"
# The files that the posts of the fixtures show.
MEDIA = FIXTURES / "media"
POSTS_WITH_TRUTH = 30_000


class Data:
    """The posts to measure with: the recorded ones where they are at hand, else made up."""

    def __init__(self, program, folder):
        self.program = str(program)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.is_recorded = (FEEDS / "all.ndjson.gz").exists()
        # The feed with 300 000 posts.
        self.big_feed = "all" if self.is_recorded else "newest"

    def source(self):
        """What to pass to `seed` for the big feed, and what it is in words."""
        if not self.is_recorded:
            return ["--generate", str(GENERATED_POSTS)], f"{GENERATED_POSTS} generated posts"
        plain = self.folder / "all.ndjson"
        if not plain.exists():
            unfinished = plain.with_suffix(".new")
            with gzip.open(FEEDS / "all.ndjson.gz") as packed, open(unfinished, "wb") as out:
                shutil.copyfileobj(packed, out)
            unfinished.rename(plain)
        return [str(plain)], "recorded posts (all.ndjson)"

    def big(self):
        """A database with the big feed and with `featured`."""
        if not self.is_recorded:
            return self.generated(GENERATED_POSTS)
        return self.kept("recorded", [self.source()[0], *([path] for path in self.others())])

    def others(self):
        """What the database of the big feed has beside it."""
        return [str(FEEDS / "featured.ndjson")] if self.is_recorded else []

    def small(self):
        """A database with `featured`, into which the big feed can be seeded."""
        if not self.is_recorded:
            return self.generated(5000)
        return self.kept("featured", [[str(FEEDS / "featured.ndjson")]])

    def generated(self, count):
        return self.kept(f"generated-{count}", [["--generate", str(count)]])

    def feeds(self, count, posts):
        """A database with so many feeds of so many posts each."""
        records = self.folder / f"feeds-{count}.ndjson"
        if not records.exists():
            unfinished = records.with_suffix(".new")
            with open(unfinished, "w", encoding="utf-8") as out:
                for feed in range(count):
                    for post in range(posts):
                        out.write(json.dumps(record(feed, post)) + "\n")
            unfinished.rename(records)
        return self.kept(f"with-{count}-feeds", [[str(records)]])

    def with_truth(self):
        """A database with the posts of the fixtures again and again, and all that is to be known of their media."""
        records = self.folder / "truth.ndjson"
        if not records.exists():
            unfinished = records.with_suffix(".new")
            with open(FIXTURES / f"{FIXTURES_FEED}.ndjson", encoding="utf-8") as lines:
                posts = [post for post in map(json.loads, lines) if "id" in post]
            with open(unfinished, "w", encoding="utf-8") as out:
                for number in range(POSTS_WITH_TRUTH):
                    post = posts[number % len(posts)]
                    place = {"name": FIXTURES_FEED, "rank": number + 1}
                    out.write(json.dumps({**post, "id": f"{post['id']}-{number}", "feeds": [place]}) + "\n")
            unfinished.rename(records)
        return self.kept("with-truth", [["--probe", "--media-root", str(MEDIA), str(records)]])

    def kept(self, name, seeds):
        """The database of that name, made by these runs of `seed` if it is not there."""
        database = self.folder / f"{name}.sqlite"
        if database.exists() and self.is_current(database):
            return database
        for leftover in self.folder.glob(f"{name}.*"):
            leftover.unlink()
        print(f"seeding {database.name}", flush=True)
        unfinished = self.folder / f"{name}.new"
        for arguments in seeds:
            self.run("seed", "--database", str(unfinished), *arguments)
        gather(unfinished)
        return unfinished.rename(database)

    def is_current(self, database):
        """Whether the database was made with this program's migrations."""
        done = subprocess.run(
            [self.program, "migrate", "verify", "--database", str(database)], capture_output=True)
        return done.returncode == 0

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stdout + done.stderr)[-2000:]
            raise RuntimeError(f"lookahead {arguments[0]}: {said}")
        return done.stdout

    def copy(self, database, target):
        """A copy of the database to write to."""
        for leftover in target.parent.glob(target.name + "*"):
            leftover.unlink()
        gather(database)
        shutil.copyfile(database, target)
        return target


def record(feed, post):
    """A post of the feed, an image with a time."""
    return {
        "id": f"feed-{feed}-{post}", "feeds": [{"name": f"topic-{feed:06}"}], "type": "image",
        "title": f"Post {post} of feed {feed}", "counters": {"likes": post},
        "publishedAt": f"2026-05-{post % 28 + 1:02}T06:10:{feed % 60:02}Z",
        "media": [{"kind": "image", "url": f"https://media.example/{feed}/{post}.webp",
                   "width": 1280, "height": 720, "bytes": 200_000}]}


def gather(database):
    """Moves what stands in the write-ahead log into the file."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def random_offsets(count, below, start=0, seed=1):
    """So many different offsets, the same ones every time."""
    return random.Random(seed).sample(range(start, below), min(count, below - start))
