"""Loaders per 1000 items on a slow network, counted by the page and by the server.

    count_loaders.py PROGRAM [--items 1000] [--network 3g] [--media FOLDER …] [--most-bytes 300000]

Makes a feed of the folders' files, two clips to three pictures, each post with a file of its own, so that nothing is
in a cache already; serves it, and has the page scroll it, an item a second, once with each strategy, all at once, each
in a Chromium of its own whose network is as slow as the server's profile (Network.emulateNetworkConditions: bandwidth
shared by all of its requests, and latency). The page plans for the network that it measures.

The page counts by the ranges that it has; the server by the states that /v1/plan was told, as docs/page.md says. Of
files that are broken the server knows no size, and counts each of them.
Prints a table; status 1 where the two differ.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "load"), str(HERE.parent / "player")]

from check_page import FIRST, STATE, Tab, figures_of  # noqa: E402
from running import FIXTURES, RunningServer  # noqa: E402

KINDS = {".mp4": "video", ".webm": "video", ".jpg": "image", ".png": "image", ".webp": "image", ".avif": "image"}
STRATEGIES = {"none": "endless", "plain": "plain", "ours": "expected-wait"}


def make_feed(folder, items, sources, most_bytes):
    """Posts `p0` … with files `/media/p0.mp4` …; the file of their records."""
    files = {"image": [], "video": []}
    for source in sources:
        for file in sorted(pathlib.Path(source).rglob("*")):
            kind = KINDS.get(file.suffix.lower())
            named = not file.name.startswith(("thumbnail", "broken")) and "_renditions" not in file.parts
            if kind and named and file.is_file() and file.stat().st_size <= most_bytes:
                files[kind].append(file)
    draw = random.Random(20120728)
    media = folder / "media"
    media.mkdir()
    with open(folder / "feed.ndjson", "w") as out:
        for index in range(items):
            kind = "video" if draw.random() < 0.4 else "image"
            file = draw.choice(files[kind])
            name = f"p{index}{file.suffix.lower()}"
            (media / name).write_bytes(file.read_bytes())
            out.write(json.dumps({
                "id": f"p{index}", "title": f"{index}", "type": kind, "feeds": [{"name": "walk", "rank": index + 1}],
                "media": [{"kind": kind, "url": f"/media/{name}"}]}) + "\n")
    return folder / "feed.ndjson"


def walk(tab, profile, strategy, items):
    """Scrolls the whole feed; the page's figures."""
    tab.call("Network.emulateNetworkConditions", offline=False, latency=profile["rtt"],
             downloadThroughput=profile["downlink"] * 125, uploadThroughput=profile["uplink"] * 125)
    tab.open(f"/#feed=walk&network=as-is&strategy={strategy}&beside=nothing")
    tab.wait(FIRST, 60)
    tab.evaluate("document.getElementById('scroll').click()")
    tab.wait(f"lookaheadPage.view.index == {items - 1}", items * 2 + 60)
    # What the last look told is on its way.
    time.sleep(1)
    return tab.evaluate(STATE)["figures"][0]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--items", type=int, default=1000)
    options.add_argument("--network", default="3g")
    options.add_argument("--media", nargs="+", default=[str(FIXTURES / "media")])
    options.add_argument("--most-bytes", type=int, default=300_000)
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        records = make_feed(scratch, options.items, options.media, options.most_bytes)
        server = RunningServer(options.program, scratch, media=scratch / "media")
        server.command("seed", str(records))
        subprocess.run([options.program, "media", "add", "--database", str(server.database), str(scratch / "media")],
                       capture_output=True, env={**os.environ, "LOOKAHEAD_DATABASE": str(server.database)})
        with server:
            networks = json.loads(server.get("/v1/networks")[2])["networks"]
            profile = next(one for one in networks if one["name"] == options.network)
            with contextlib.ExitStack() as stack, ThreadPoolExecutor(len(STRATEGIES)) as pool:
                # One after the other: a process that is started takes along what others have just opened.
                tabs = [stack.enter_context(Tab(server.port)) for _ in STRATEGIES]
                walks = list(pool.map(
                    lambda name, tab: walk(tab, profile, name, options.items), STRATEGIES, tabs))
            counted = figures_of(server.port)
    print("| strategy | items | loaders, by the page | by the server | of 1000 | delay an item, ms | MB | wasted, MB | requests | plans |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    is_same = True
    for strategy, figures in zip(STRATEGIES.values(), walks):
        loaders, told = figures["imageLoaders"] + figures["videoLoaders"], counted[strategy]
        is_same &= (figures["items"], loaders) == (told["items"], told["loaders"])
        print(f"| `{strategy}` | {figures['items']} ({told['items']}) | {loaders} | {told['loaders']} "
              f"| {loaders * 1000 / figures['items']:.1f} | {figures['delayMs'] / figures['items']:.0f} "
              f"| {figures['bytes'] / 1e6:.1f} | {figures['wastedBytes'] / 1e6:.1f} | {figures['requests']} "
              f"| {figures['plans']} |")
    sys.exit(0 if is_same else 1)


if __name__ == "__main__":
    main()
