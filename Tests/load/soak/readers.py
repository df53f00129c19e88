"""Clients that read."""

import collections
import json
import time
from urllib.parse import quote

from soak.client import Client

# These stay in the feed while others come and go around them.
FEED = "soak"
STAYING = [f"stay-{number}" for number in range(400)]


def staying_records():
    """Their records; a title with what JSON and compression have to take care of."""
    return [
        {"id": id, "type": "image", "title": f"„{id}“ \\ \"\t", "tags": ["soak"] * (number % 7),
         "feeds": [{"name": FEED, "rank": number * 10}]}
        for number, id in enumerate(STAYING)
    ]


class Walker(Client):
    """Walks a feed by cursor: what stays is met exactly once, and nothing twice."""

    def turn(self):
        limit = self.random.choice([7, 30, 100])
        path = f"/rp/?feed={FEED}&limit={limit}"
        fields = {"Accept-Encoding": self.random.choice(["gzip", "identity"])}
        seen = []
        start = time.monotonic()
        while path and not self.tally.stopped.is_set():
            status, heads, content = self.ask("GET", path, {200, 410}, fields)
            if status == 410:
                self.tally.count("walks whose ranking was gone")
                return
            page = json.loads(content)
            seen += [item["id"] for item in page["items"]]
            path = page["paging"]["links"].get("next")
        if path:
            return
        self.tally.count("walks")
        # An item that was deleted meanwhile and made again is another one.
        twice = {id for id, count in collections.Counter(seen).items() if count > 1
                 and self.tally.deleted_at.get(id, 0) < start}
        self.expect(not twice, f"a walk by {limit} met twice: {sorted(twice)}")
        missing = set(STAYING) - set(seen)
        self.expect(not missing, f"a walk by {limit} missed {sorted(missing)[:5]}")


class Jumper(Client):
    """Reads at offsets, around items, and single items."""

    def turn(self):
        paths = [
            f"/rp/?feed={FEED}&offset={self.random.randrange(600)}&limit=20",
            f"/v1/feeds/{FEED}/items?around=offset:{self.random.randrange(300)}&leading=5&trailing=5",
            f"/v1/feeds/{FEED}/items?around={self.random.choice(STAYING)}",
            f"/v1/items/{self.random.choice(STAYING)}",
            "/v1/feeds", f"/v1/feeds/{FEED}", "/v1/networks", "/metrics", "/healthz", "/readyz",
        ]
        # While it drains, /readyz is 503.
        allowed = {200, 503} if self.tally.ending.is_set() else {200}
        self.ask("GET", self.random.choice(paths), allowed)
        self.ask("GET", "/v1/items/" + quote("no such/item"), {404})
        self.ask("GET", f"/rp/?feed={FEED}&limit=1000", {400})
        self.ask("HEAD", f"/rp/?feed={FEED}", {200})


class Revalidator(Client):
    """Asks with the tag of the last answer, in each coding."""

    def prepare(self):
        self.tags = {}

    def turn(self):
        coding = self.random.choice(["br", "gzip", "identity"])
        fields = {"Accept-Encoding": coding}
        if coding in self.tags:
            fields["If-None-Match"] = self.tags[coding]
        feed = self.random.choice([FEED, "featured"])
        status, heads, content = self.ask(
            "GET", f"/rp/?feed={feed}&limit=30", {200, 304}, fields)
        if status == 304:
            self.expect(heads["ETag"] == self.tags[coding], "a 304 with another tag")
            return
        self.expect((heads["Content-Encoding"] or "identity") == coding, f"not in {coding}")
        self.tags[coding] = heads["ETag"]


class Player(Client):
    """Reads a media file by ranges."""

    def prepare(self):
        self.file = next(self.tally.server.media.glob("*.mp4"))
        self.bytes = self.file.read_bytes()

    def turn(self):
        size = len(self.bytes)
        first = self.random.randrange(size)
        last = min(size - 1, first + self.random.randrange(300_000))
        cases = [
            (f"bytes={first}-{last}", self.bytes[first:last + 1]),
            (f"bytes={first}-", self.bytes[first:]),
            (f"bytes=-{size - first}", self.bytes[first:]),
        ]
        field, expected = self.random.choice(cases)
        path = f"/media/{self.file.name}"
        _, _, content = self.ask("GET", path, {206}, {"Range": field})
        self.expect(content == expected, f"{field}: other bytes")
        self.ask("GET", path, {416}, {"Range": f"bytes={size}-"})
        self.ask("GET", "/media/..%2ffeed.sqlite", {404})
