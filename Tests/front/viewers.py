"""Many viewers of a few feeds, and increments all the while: how much of what is read comes out of the cache."""

import asyncio
import random
import re
import subprocess
import time

from checks import Skipped, require
from client import Client

INCREMENTS_PER_SECOND = 500
LEAST_READS_PER_SECOND = 3_000
# The share of viewers that get as far as each page of 30.
PAGES = [1, 0.45, 0.25, 0.15]
FEEDS = 6
ITEMS = 120


def records():
    for feed in range(FEEDS):
        for number in range(ITEMS):
            yield {"id": f"view{feed}-{number}", "type": "image", "title": f"item {number}",
                   "counters": {"likes": number}, "feeds": [{"name": f"view{feed}", "rank": number + 1}],
                   "media": [{"kind": "image", "url": f"https://media.example/{feed}/{number}.jpg", "bytes": 48_000}]}


def script(folder, seed):
    """What wrk asks for: feeds by Zipf's law, the first pages most."""
    lines = []
    for feed in range(FEEDS):
        for page, share in enumerate(PAGES):
            lines.append((share / (feed + 1), f"/rp/?feed=view{feed}&limit=30&offset={30 * page}"))
    total = sum(weight for weight, _ in lines)
    table = ",".join(f'{{{weight / total:.6f},"{path}"}}' for weight, path in lines)
    path = folder / "viewers.lua"
    path.write_text(f"""
math.randomseed({seed})
local pages = {{{table}}}
function request()
  local at = math.random()
  for _, page in ipairs(pages) do
    at = at - page[1]
    if at <= 0 then return wrk.format("GET", page[2], {{["Accept-Encoding"] = "gzip"}}) end
  end
  return wrk.format("GET", pages[1][2])
end
""")
    return path


async def increment(fleet, seconds, seed):
    """Increments at a steady rate, over several connections; how many were answered."""
    numbers, answered = random.Random(seed), 0
    clients = [Client(fleet.varnish.port) for _ in range(8)]
    start = time.monotonic()

    async def write(client, first):
        nonlocal answered
        number = first
        while (due := start + number / INCREMENTS_PER_SECOND) < start + seconds:
            await asyncio.sleep(max(0, due - time.monotonic()))
            feed = min(int(numbers.paretovariate(1)) - 1, FEEDS - 1)
            answer = await client.write(
                "POST", f"/v1/items/view{feed}-{numbers.randrange(ITEMS)}/counters", {"likes": 1})
            require(answer.status == 200, f"{answer.status} {answer.body}")
            answered += 1
            number += len(clients)

    await asyncio.gather(*(write(client, first) for first, client in enumerate(clients)))
    return answered, time.monotonic() - start


def load(fleet, seconds, seed):
    if subprocess.run(["which", "wrk"], capture_output=True).returncode != 0:
        raise Skipped("there is no wrk")
    before = fleet.varnish.counts()
    wrk = subprocess.Popen(
        ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", script(fleet.folder, seed),
         f"http://127.0.0.1:{fleet.varnish.port}/"], stdout=subprocess.PIPE, text=True)
    answered, took = asyncio.run(increment(fleet, seconds, seed))
    said = wrk.communicate(timeout=60)[0]
    after = fleet.varnish.counts()
    hits, misses = (after[f"MAIN.cache_{name}"] - before[f"MAIN.cache_{name}"] for name in ("hit", "miss"))
    rate = float(re.search(r"Requests/sec: +([\d.]+)", said)[1])
    share = hits / max(1, hits + misses)
    text = (f"{rate:.0f} reads and {answered / took:.0f} increments a second, hit rate {share:.2%}, "
            f"{misses / seconds:.0f} pages a second from the servers (seed {seed})")
    require("Non-2xx" not in said and "Socket errors" not in said, said)
    # The share is one of reads against increments: where a busy machine lets too few of either through, it says nothing.
    if answered / took < 0.2 * INCREMENTS_PER_SECOND or rate < LEAST_READS_PER_SECOND:
        raise Skipped(f"too busy a machine: {text}")
    require(share >= 0.95, text)
    return text
