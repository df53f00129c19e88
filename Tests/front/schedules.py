"""Posts that come and go at moments of their own, read through Varnish, which was told of purges or not."""

import asyncio
import datetime
import json
import time

from checks import require
from client import Client

FEEDS, POSTS_OF_FEED = 20, 50
READERS = 4
# From the write to the first moment: longer than pages may be kept, so that caches had them before.
AHEAD_SECONDS = 14
# All come within a second, and go within another.
BETWEEN_SECONDS = 3


def stamp(microseconds):
    moment = datetime.datetime.fromtimestamp(microseconds // 1_000_000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{microseconds % 1_000_000:06d}Z"


class Seen:
    """When answers with a post were asked for and had arrived, in microseconds."""

    def __init__(self, comes, goes):
        self.comes, self.goes = comes, goes
        self.first_asked = self.first_arrived = None
        self.last_asked = None


async def come_and_go(fleet, _seconds):
    """1000 posts that come within one second, and go within another: each is seen within a second of its moment, none
    before, and none longer."""
    count = FEEDS * POSTS_OF_FEED
    begin = int((time.time() + AHEAD_SECONDS) * 1e6)
    posts = {}
    # The feeds are there from the beginning, and Varnish has their pages.
    lines = [json.dumps({"feed": {"name": f"moments{feed}", "title": "Moments"}}) for feed in range(FEEDS)]
    for number in range(count):
        comes = begin + number * 1_000_000 // count
        goes = comes + BETWEEN_SECONDS * 1_000_000
        name, feed = f"moment-{number}", f"moments{number % FEEDS}"
        posts[name] = Seen(comes, goes)
        lines.append(json.dumps({
            "id": name, "type": "text", "visibleFrom": stamp(comes), "visibleUntil": stamp(goes),
            "feeds": [{"name": feed, "rank": number}]}))
    writer = Client(fleet.servers[0].port)
    answer = await writer.ask(
        "POST", "/v1/import", "\n".join(lines).encode(), Content_Type="application/x-ndjson",
        Authorization=f"Bearer {fleet.token}")
    require(answer.status == 200 and answer.json["added"] == count + FEEDS, f"{answer.status} {answer.body[:300]}")
    end = (begin / 1e6) + 1 + BETWEEN_SECONDS + 2
    reads = [0, 0]

    async def read(reader):
        client = Client(fleet.varnish.port)
        while time.time() < end:
            for feed in range(reader, FEEDS, READERS):
                asked = int(time.time() * 1e6)
                answer = await client.get(f"/rp/?feed=moments{feed}&limit=100")
                arrived = int(time.time() * 1e6)
                require(answer.status == 200, f"{answer.status} {answer.body[:200]}")
                reads[0] += 1
                reads[1] += answer.fields["x-cache"] == "HIT"
                for item in answer.json["items"]:
                    seen = posts[item["id"]]
                    if seen.first_asked is None:
                        seen.first_asked, seen.first_arrived = asked, arrived
                    seen.last_asked = asked
        client.close()

    # The other server has seen the write.
    await asyncio.sleep(0.5)
    require(time.time() < begin / 1e6 - 1, "the import took longer than the posts had time")
    await asyncio.gather(*(read(reader) for reader in range(READERS)))
    missing = [name for name, seen in posts.items() if seen.first_asked is None]
    require(not missing, f"{len(missing)} were never seen, such as {missing[:3]}")
    early = [name for name, seen in posts.items() if seen.first_arrived < seen.comes]
    require(not early, f"{len(early)} were seen before their moments, such as {early[:3]}")
    lags = sorted((seen.first_asked - seen.comes) / 1e3 for seen in posts.values())
    stays = sorted((seen.last_asked - seen.goes) / 1e3 for seen in posts.values())
    text = (f"{count} posts, {reads[0]} reads, {reads[1]} of them from the cache; first seen p50 "
            f"{lags[count // 2]:.0f} ms, max {lags[-1]:.0f} ms after their moments; last seen max {stays[-1]:.0f} ms after "
            "their ends")
    require(lags[-1] < 1_000 and stays[-1] < 1_000, text)
    require(reads[1] > 0, f"nothing came from the cache: {text}")
    return text
