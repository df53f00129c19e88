"""Writers and readers of a fleet while its primaries are killed: what was answered, and whether it is there."""

import asyncio
import bisect
import itertools
import random
import time

from checks import require
from client import Client

FEED = "failover"
WRITERS, READERS = 4, 4
# How long one request may take, and how long a write is tried again.
REQUEST_SECONDS, GIVE_UP_SECONDS = 15, 120
# After how long a server shows what another has answered.
SEEN_SECONDS = 0.5


class Ledger:
    """What was answered to whom, and when."""

    def __init__(self):
        self.items = []
        self.increments = [0] * WRITERS
        # When a write was answered.
        self.times = []
        self.refused = self.unknown = self.without_retry_after = 0
        # Reads of pages that had been asked for before, and of others, that were not answered.
        self.reads, self.failures, self.unready = 0, [], []
        self.asked = set()

    def longest_pause(self, begin, end):
        """The longest time without an answered write between two moments."""
        times = [begin, *(time for time in self.times if begin < time < end), end]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def first_after(self, moment):
        return next((time for time in self.times if time > moment), None)


class Traffic:
    """Writes and reads through Varnish until it is told to stop."""

    def __init__(self, ports, seed):
        self.ports = ports
        self.random = random.Random(seed)
        self.ledger = Ledger()
        self.is_over = False
        self.tasks = []

    async def begin(self):
        port = self.ports[0]
        for number in range(WRITERS):
            made = await Client(port).write(
                "PUT", f"/v1/items/count-{number}", {"type": "text", "feeds": [{"name": f"{FEED}-counts"}]})
            require(made.status in (201, 204), f"{made.status} {made.body}")
        self.tasks = [asyncio.create_task(self.write(number)) for number in range(WRITERS)]
        self.tasks += [asyncio.create_task(self.read(number)) for number in range(READERS)]

    async def end(self):
        self.is_over = True
        await asyncio.gather(*self.tasks)

    def check(self):
        """Raises what one of the writers or readers raised."""
        for task in self.tasks:
            if task.done():
                task.result()

    async def until_answered(self, client, method, target, body, **fields):
        """The same write again and again until it is answered as it should be."""
        end = time.monotonic() + GIVE_UP_SECONDS
        while True:
            try:
                answer = await asyncio.wait_for(
                    client.ask(method, target, body, **fields), REQUEST_SECONDS)
                if answer.status in (200, 201, 204):
                    self.ledger.times.append(time.monotonic())
                    return
                require(answer.status in (502, 503, 504), f"{method} {target}: {answer.status} {answer.body[:300]}")
                self.ledger.refused += 1
                self.ledger.without_retry_after += "retry-after" not in answer.fields
            except (OSError, EOFError, asyncio.TimeoutError):
                client.close()
                self.ledger.unknown += 1
            require(time.monotonic() < end, f"{method} {target} has not been answered for {GIVE_UP_SECONDS} s")
            await asyncio.sleep(0.05)

    async def write(self, writer):
        client = Client(self.ports[0])
        secret = {"Authorization": "Bearer token-of-the-tests-0123456789"}
        for number in itertools.count():
            if self.is_over:
                return
            await self.until_answered(
                client, "POST", f"/v1/items/count-{writer}/counters", {"likes": 1},
                Idempotency_Key=f'"{writer}-{number}"', **secret)
            self.ledger.increments[writer] += 1
            if number % 4 == 0:
                item = f"put-{writer}-{number}"
                await self.until_answered(
                    client, "PUT", f"/v1/items/{item}", {"type": "text", "title": item, "feeds": [{"name": FEED}]},
                    **secret)
                self.ledger.items.append(item)
            await asyncio.sleep(0.01)

    async def read(self, reader):
        client = Client(self.ports[reader % len(self.ports)])
        while not self.is_over:
            known = len(self.ledger.items)
            offset = self.random.randrange(known) if known else 0
            target = self.random.choice([
                f"/rp/?feed={FEED}-counts&limit=30", f"/rp/?feed={FEED}-counts&limit=30&offset=1",
                f"/rp/?feed={FEED}&limit=10" if known else "/v1/feeds",
                f"/rp/?feed={FEED}&limit=10&offset={offset // 10 * 10}" if known else "/v1/feeds"])
            self.ledger.reads += 1
            try:
                answer = await asyncio.wait_for(client.get(target), REQUEST_SECONDS)
                if answer.status == 200:
                    self.ledger.asked.add(target)
                else:
                    known = target in self.ledger.asked
                    kind = self.ledger.failures if known else self.ledger.unready
                    kind.append(f"{target}: {answer.status} {answer.body[:120]}")
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                client.close()
                self.ledger.failures.append(f"{target}: {type(error).__name__}")
            await asyncio.sleep(0.005)


async def lost(port, ledger):
    """Which answered writes are not there, asked of a server itself."""
    client, missing = Client(port), []
    for item in ledger.items:
        answer = await client.get(f"/v1/items/{item}")
        if answer.status != 200 or answer.json.get("title") != item:
            missing.append(f"{item}: {answer.status}")
    for writer, count in enumerate(ledger.increments):
        likes = (await client.get(f"/v1/items/count-{writer}")).json.get("counters", {}).get("likes", 0)
        if likes != count:
            missing.append(f"count-{writer}: {likes} and not {count}")
    return missing


async def answered_is_seen(writer_port, reader_ports, seconds):
    """What one server has answered is there at every other, whatever their standbys have: items at once, and in
    feeds half a second later, as each server hears of the others' writes; no 404, and no feed that ends early."""
    clients = [Client(port) for port in reader_ports]
    writer, end, written = Client(writer_port), time.monotonic() + seconds, []
    while time.monotonic() < end:
        item = f"lagged-{len(written)}"
        made = await writer.write("PUT", f"/v1/items/{item}", {
            "type": "text", "title": item, "feeds": [{"name": "lagged", "rank": len(written)}]})
        require(made.status in (201, 204), f"{made.status} {made.body}")
        written.append(time.monotonic())
        for client in clients:
            answer = await client.get(f"/v1/items/{item}")
            require(answer.status == 200, f"{item} is {answer.status} at a server that reads from a standby")
            known = bisect.bisect(written, time.monotonic() - SEEN_SECONDS)
            cursor, seen = None, 0
            while known > 0:
                page = await client.get(f"/rp/?feed=lagged&limit=100{'&after=' + cursor if cursor else ''}")
                require(page.status == 200, f"a page is {page.status} {page.body[:200]}")
                seen += len(page.json["items"])
                cursor = page.json["paging"].get("next")
                if not cursor:
                    break
            require(seen >= known, f"the feed ends after {seen} of {known} items")
        await asyncio.sleep(0.05)
    return f"{len(written)} writes, each asked for at {len(clients)} servers at once"
