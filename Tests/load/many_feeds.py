#!/usr/bin/env python3
"""Serves very many small feeds within a limit for orders, and says what that takes.

    python3 Tests/load/many_feeds.py PROGRAM [FEEDS] [LIMIT_BYTES] [SEED]

Seeds FEEDS posts (a million), each in two feeds of as many, serves them with --order-memory-bytes LIMIT_BYTES
(500000000), asks for feeds at random, and prints when the first page came, how long pages took, and the memory.
Status 1 where a page is not what was seeded.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request

PAGES = 3_000


def records(feeds):
    for number in range(feeds):
        other = (number * 7919 + 1) % feeds
        names = {f"user-feed-{number:07d}", f"user-feed-{other:07d}"}
        yield json.dumps({
            "id": f"p{number}", "type": "image", "publishedAt": "2026-01-01T00:00:00Z",
            "media": [{"kind": "image", "url": f"https://m.example/{number}.jpg", "bytes": 50_000}],
            "feeds": [{"name": name, "rank": 1} for name in sorted(names)],
        }) + "\n"


def seed(program, database, feeds):
    seeding = subprocess.Popen(
        [program, "seed", "--database", database, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in records(feeds):
        seeding.stdin.write(line)
    seeding.stdin.close()
    if seeding.wait() != 0:
        sys.exit("the seed failed")


def look(server, base, feeds, seed_number):
    def get(path):
        with urllib.request.urlopen(base + path, timeout=120) as answer:
            return answer.read().decode()

    def tell(when):
        figures = [line for line in get("/metrics").splitlines() if line.startswith("lookahead_order")]
        with open(f"/proc/{server.pid}/status") as status:
            memory = {line.split(":")[0]: int(line.split()[1]) // 1000 for line in status if line.startswith("Rss")}
        print(f"{when}: {', '.join(figures)}; {memory['RssAnon']} MB of its own, {sum(memory.values())} MB resident")

    start = time.monotonic()
    get(f"/v1/feeds/user-feed-{feeds - 1:07d}/items?limit=1")
    print(f"first page of a feed after {1000 * (time.monotonic() - start):.0f} ms")
    time.sleep(20)
    tell("20 s later")
    choice, times, wrong = random.Random(seed_number), [], 0
    for _ in range(PAGES):
        name = f"user-feed-{choice.randrange(feeds):07d}"
        start = time.monotonic()
        page = json.loads(get(f"/v1/feeds/{name}/items"))
        times.append(time.monotonic() - start)
        wrong += not 1 <= len(page["items"]) == page["feed"]["total"] <= 2
    times.sort()
    print(f"{PAGES} pages of feeds at random (seed {seed_number}): median {1000 * times[PAGES // 2]:.2f} ms, "
          f"99 % {1000 * times[PAGES * 99 // 100]:.2f} ms, {wrong} wrong")
    tell("then")
    return wrong == 0


def main():
    program = os.path.abspath(sys.argv[1])
    feeds, limit, seed_number = [
        int(sys.argv[place]) if len(sys.argv) > place else default
        for place, default in [(2, 1_000_000), (3, 500_000_000), (4, 20_261_122)]]
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/feed.sqlite"
        seed(program, database, feeds)
        server = subprocess.Popen(
            [program, "serve", "--database", database, "--port", "0", "--order-memory-bytes", str(limit),
             "--log-level", "error"], stdout=subprocess.PIPE, text=True)
        try:
            base = server.stdout.readline().split()[-1].rstrip("/")
            is_right = look(server, base, feeds, seed_number)
        finally:
            server.terminate()
            server.wait()
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
