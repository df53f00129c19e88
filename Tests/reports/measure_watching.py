"""What learned watching saves, in bytes at equal loaders and at equal delay: measure_watching.py PROGRAM WATCH.json [--items N] [--views N] [--looks N] [--repeats N] [--seed N]
[--network NAME]
[--kilobits LEAST MOST].

A feed of clips, watched by made-up people as the file says; they report to a server, which learns. The lab then lets such
people scroll the feed with expected-wait at several prices, told what was learned and not. Prints both, and the waste at equal
loaders.
"""

import argparse
import csv
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "load"))
sys.path.insert(0, str(HERE))

from check_reports import Poster, is_written  # noqa: E402
from running import RunningServer, environment, wait_until  # noqa: E402

PRICES = (250, 1000, 1500, 3000, 8000, 20000)


def ratio(decile, rng):
    """How much of a clip somebody watches: straight between the quantiles, with the mean that was measured."""
    share = decile["watchRatio"]
    low, middle, high = share["p10"], share["p50"], share["p90"]
    most = max(high, 20 * share["mean"] - 5 * low - 8 * middle - 5 * high)
    points = [(0, 0), (0.1, low), (0.5, middle), (0.9, high), (1, most)]
    drawn = rng.random()
    for (left, before), (right, after) in zip(points, points[1:]):
        if drawn <= right:
            return before + (after - before) * (drawn - left) / (right - left)
    return most


def run(server, *arguments):
    """Runs a command of the program on the server's database, however long it takes; its output."""
    done = subprocess.run([server.program, *arguments], env=environment(LOOKAHEAD_DATABASE=str(server.database)),
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def waste_at(points, loaders):
    """The waste at this many loaders, straight between the prices; none beyond them."""
    points = sorted(points)
    for (left, before), (right, after) in zip(points, points[1:]):
        if left <= loaders <= right:
            return before + (after - before) * (loaders - left) / max(1e-9, right - left)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("watch", type=pathlib.Path)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--views", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--looks", type=int, default=500)
    parser.add_argument("--network", action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kilobits", type=int, nargs=2, default=(480, 2000), help="of a second of a clip, the least and the most")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    deciles = json.loads(options.watch.read_text())["deciles"]
    clips = []
    for number in range(options.items):
        decile = rng.choice(deciles)
        first, *_, last = decile["durationMs"]
        duration = int(rng.uniform(first, last))
        clips.append((f"clip-{number}", duration, decile))
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder) / "clips.jsonl"
        records.write_text("".join(json.dumps({
            "id": name, "type": "video", "feeds": [{"name": "clips", "rank": rank}],
            "media": [{"kind": "video", "url": f"/media/{name}.mp4", "durationMs": duration,
                       "bytes": duration * rng.randint(*options.kilobits) // 8}]}) + "\n"
            for rank, (name, duration, _) in enumerate(clips, 1)))
        server = RunningServer(options.program, folder, "--reports-per-minute", "0", "--report-address-views", "0",
                               "--report-publish-seconds", "1", "--no-access-log")
        server.command("seed", str(records))
        with server:
            poster = Poster(server.port)
            for viewer in range(options.views):
                for start in range(0, len(clips), 100):
                    seen = [{"id": name, "readyMs": 0, "watchedMs": int(ratio(decile, rng) * duration)}
                            for name, duration, decile in clips[start:start + 100]]
                    assert poster.post({"session": f"viewer-{viewer:012}-{start:06}", "part": 0, "feed": "clips",
                                        "items": len(seen), "seen": seen}) == 202
                # Within what the server queues.
                while viewer % 10 == 9 and not is_written(server):
                    time.sleep(0.1)
            wait_until(lambda: all("survival" in json.loads(server.get(f"/v1/items/{name}")[2]) for name, *_ in clips[::50]), 30)
            time.sleep(3)
        networks = [word for network in options.network or ["3g", "lte"] for word in ("--network", network)]
        strategies = [word for price in PRICES for word in ("--strategy", f"expected-wait:price={price}")]
        results = {}
        for learned in (True, False):
            text = run(
                server, "lab", "run", "--feed", "clips", "--watch", str(options.watch), "--format", "csv", "--repeats",
                str(options.repeats), "--items", str(options.looks), *networks, *strategies, *([] if learned else ["--without-survival"]))
            # The mean of the runs of a price.
            for row in csv.DictReader(io.StringIO(text)):
                if not row["wastedPercent"]:  # The bound.
                    continue
                prices = results.setdefault(row["network"], {}).setdefault(learned, {})
                prices.setdefault(row["strategy"], []).append(
                    (float(row["loaders"]), float(row["delayMilliseconds"]), float(row["kilobytes"]) * float(row["wastedPercent"]) / 100))
    for network, both in results.items():
        print(network)
        curves = {}
        for learned, rows in both.items():
            curves[learned] = [tuple(sum(values) / len(runs) for values in zip(*runs)) for runs in rows.values()]
            print("learned " if learned else "without ", ", ".join(
                f"{loaders:.1f} and {delay:.0f} ms: {waste:.1f}" for loaders, delay, waste in sorted(curves[learned])))
        for index, words in enumerate(("loaders per 1000", "ms of delay an item")):
            for point in sorted(curves[False]):
                told = waste_at([(one[index], one[2]) for one in curves[True]], point[index])
                if told is not None:
                    print(f"  at {point[index]:.1f} {words}: waste {told:.1f} KB an item learned, {point[2]:.1f} without: "
                          f"{100 * (told / point[2] - 1) if point[2] else 0:+.0f} %")


if __name__ == "__main__":
    main()
