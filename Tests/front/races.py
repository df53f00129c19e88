"""Purges that meet answers on their way: whoever has seen a newer page never sees an older one again."""

import asyncio
import random
import re
import time

from checks import require
from client import Client

LIKES = re.compile(rb'"likes":(\d+)')
FEEDS = 8
READERS = 3
# After this many writes a writer waits until the page has the last one.
PAUSE_EVERY = 2
# Less than `max-age`.
SETTLE_SECONDS = 2
# Of how many answers on their way one may be kept until the second purge, and one more.
RACES_PER_SLIP = 2_000


def records():
    """A feed for each writer, small enough that no page is compressed, with one item that is counted."""
    for feed in range(FEEDS):
        for number in range(3):
            yield {"id": f"race{feed}-{number}", "type": "text", "title": f"item {number}",
                   "feeds": [{"name": f"race{feed}", "rank": number + 1}],
                   **({"counters": {"likes": 0}} if number == 0 else {})}


class SlowPath:
    """Between Varnish and a server: answers are held up for a random while, as on a path that is not the same
    machine's, so that writes and purges come between a page and its arrival."""

    def __init__(self, port, seed, held_milliseconds):
        self.port = port
        self.random = random.Random(seed)
        self.held_milliseconds = held_milliseconds
        self.own_port = None
        self.server = None
        self.tasks = []
        # Requests on their way: when each began.
        self.begun = {}
        self.races = 0
        # Answers every page with 503, as a server does that has lost its database.
        self.fails = False
        # When the last write to each feed was answered.
        self.written = {}

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.own_port or 0)

    async def stop(self):
        self.server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def serve(self, reader, writer):
        self.tasks.append(asyncio.current_task())
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.close()
            return
        waiting = []
        there = asyncio.create_task(self.forward(reader, server_writer, writer, waiting))
        try:
            await self.hold(server_reader, writer, waiting)
        except (asyncio.CancelledError, OSError):
            # The check is over, or one of the two has gone.
            pass
        there.cancel()
        for end in (writer, server_writer):
            end.close()

    async def forward(self, reader, writer, back, waiting):
        while data := await reader.read(65536):
            found = re.match(rb"GET /rp/\?feed=(\w+)", data)
            if found and self.fails:
                back.write(b"HTTP/1.1 503 No\r\nRetry-After: 7\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n")
                continue
            waiting.append((found[1].decode() if found else None, time.monotonic()))
            writer.write(data)

    async def hold(self, reader, writer, waiting):
        while data := await reader.read(65536):
            if waiting:
                feed, begun = waiting.pop(0)
                if feed:
                    await asyncio.sleep(self.random.random() * self.held_milliseconds / 1000)
                    if self.written.get(feed, 0) > begun:
                        self.races += 1
            writer.write(data)


class Feed:
    """What is known of a feed: the newest that was written, and that was seen."""

    def __init__(self, name):
        self.name = name
        self.path = f"/rp/?feed={name}&limit=3"
        self.written = self.seen = 0
        self.answered_at = {0: 0.0}
        self.reads = self.backwards = self.behind = 0
        self.longest_behind = 0.0


class Races:
    """Writers and readers of some feeds until this many pages were written to while they were on their way."""

    def __init__(self, fleet, paths, count):
        self.fleet = fleet
        self.paths = paths
        self.count = count
        self.feeds = [Feed(f"race{number}") for number in range(FEEDS)]
        self.is_over = False
        self.slipped = 0

    def races(self):
        return sum(path.races for path in self.paths)

    async def write(self, feed):
        # All at one server, so that the other is as far behind as its looks are apart.
        client = Client(self.fleet.servers[0].port)
        while not self.is_over:
            answer = await client.write("POST", f"/v1/items/{feed.name}-0/counters", {"likes": 1})
            require(answer.status == 200, f"{answer.status} {answer.body}")
            feed.written = answer.json["counters"]["likes"]
            feed.answered_at[feed.written] = time.monotonic()
            for path in self.paths:
                path.written[feed.name] = feed.answered_at[feed.written]
            if feed.written % PAUSE_EVERY == 0:
                # No later purge may help: the page has this one, whatever was on its way when it was written.
                await self.settle([feed])
            await asyncio.sleep(0.002)

    async def read(self, feed):
        client = Client(self.fleet.varnish.port)
        while not self.is_over:
            known, written, asked = feed.seen, feed.written, time.monotonic()
            answer = await client.get(feed.path)
            require(answer.status == 200, f"{answer.status} {answer.body[:300]}")
            likes = int(LIKES.search(answer.body)[1])
            feed.reads += 1
            if likes < known:
                feed.backwards += 1
            if likes < written:
                # An increment that had been answered when the page was asked for is not on it.
                feed.behind += 1
                feed.longest_behind = max(feed.longest_behind, asked - feed.answered_at[likes + 1])
            feed.seen = max(feed.seen, likes)

    async def run(self, within_seconds):
        await self.begin()
        end = time.monotonic() + within_seconds
        tasks = [asyncio.create_task(work(feed)) for feed in self.feeds
                 for work in [self.write] + [self.read] * READERS]
        while self.races() < self.count and time.monotonic() < end:
            await asyncio.sleep(0.05)
            for task in tasks:
                if task.done():
                    task.result()
        self.is_over = True
        await asyncio.gather(*tasks)
        await self.settle(self.feeds)

    async def begin(self):
        """Varnish has seen that all paths lead somewhere."""
        end = time.monotonic() + 30
        while not await asyncio.to_thread(self.fleet.varnish.finds_all):
            require(time.monotonic() < end, "Varnish does not find all servers")
            await asyncio.sleep(0.1)

    async def settle(self, feeds):
        """The last write comes to be on the page of each, long before that runs out by itself. What slips through between
        the last line of Varnish's configuration and its index stays until it is purged again, and is counted."""
        client = Client(self.fleet.varnish.port)
        for feed in feeds:
            end, has_slipped = time.monotonic() + SETTLE_SECONDS, False
            while (likes := int(LIKES.search((await client.get(feed.path)).body)[1])) != feed.written:
                if time.monotonic() > end:
                    require(not has_slipped, f"{feed.name} shows {likes} and not {feed.written}, however often purged")
                    self.slipped, has_slipped, end = self.slipped + 1, True, time.monotonic() + SETTLE_SECONDS
                    require(self.slipped <= 1 + self.races() // RACES_PER_SLIP,
                            f"{self.slipped} of {self.races()} answers that were on their way were kept")
                    await client.ask("PURGE", "/", Surrogate_Key=f"feed/{feed.name}")
                await asyncio.sleep(0.02)
        client.close()

    def result(self):
        reads = sum(feed.reads for feed in self.feeds)
        backwards = sum(feed.backwards for feed in self.feeds)
        behind = sum(feed.behind for feed in self.feeds)
        longest = max(feed.longest_behind for feed in self.feeds) * 1000
        text = (f"{self.races()} fills that something was written to on their way, "
                f"{sum(feed.written for feed in self.feeds)} writes, {reads} reads, {backwards} of them "
                f"an older page after a newer one; {behind} did not have what was answered "
                f"before they asked, by {longest:.0f} ms at the most; {self.slipped} fills kept until the second purge")
        require(backwards == 0, text)
        require(self.races() >= self.count, f"only {text}")
        return text


async def failing_servers(fleet, paths):
    """Servers that answer, but with 503: pages are shown as they were, and of what is not there it is said."""
    client, feed = Client(fleet.varnish.port), Feed("race3")
    before = (await client.get(feed.path)).body
    for path in paths:
        path.fails = True
    await client.ask("PURGE", "/", Surrogate_Key="all")
    answer = await client.get(feed.path)
    require((answer.status, answer.body) == (200, before), f"{answer.status} {answer.fields}")
    require(answer.fields["x-cache"] == "STALE", str(answer.fields))
    other = await client.get("/rp/?feed=race3&limit=1")
    require((other.status, other.fields.get("retry-after")) == (503, "7"), f"{other.status} {other.fields}")
    for path in paths:
        path.fails = False
    answer = await client.get(feed.path)
    require(answer.status == 200 and answer.fields["x-cache"] != "STALE", f"{answer.status} {answer.fields}")
