"""Reports of clients, end to end: check_reports.py PROGRAM [--seed N] [--viewers N] [--rate N]
[--only CHECK] [--rounds N] [--one-core].

Prints a line for each check with its figures; status 1 where one does not hold.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "load"), str(HERE.parent / "monitoring"), str(HERE.parent / "front")]

from checks import Skipped  # noqa: E402
from pair import Pair  # noqa: E402
from running import FIXTURES, RunningServer, TOKEN, environment, wait_until  # noqa: E402

MEDIA = FIXTURES / "media"
NETWORKS = ("wifi", "3g", "edge")
STRATEGIES = ("plain:leading=5", "weighted:leading=5,maxCost=5")

failures = []


def expect(holds, words):
    print(f"{'ok  ' if holds else 'FAIL'} {words}", flush=True)
    if not holds:
        failures.append(words)


def live(server, hours=2):
    status, _, body = server.get(f"/v1/live?hours={hours}")
    assert status == 200, body
    return json.loads(body)


def total(server):
    return live(server).get("total", {})


def is_written(server):
    """Whether all that was reported is in the database."""
    return server.metrics()["lookahead_reports_waiting"] == 0


def part(session, number=0, **members):
    return {"session": f"session-of-a-test-{session}", "part": number, "feed": "featured", "policy": "p",
            "network": {"downlink": 780}, "items": 10, "loaders": {"image": 1}, **members}


def put_clips(server, count, milliseconds=20_000):
    """Clips of which nothing is known but how long they play."""
    for number in range(count):
        status, *_ = server.ask("PUT", f"/v1/items/clip-{number}", {
            "type": "video", "feeds": [{"name": "featured"}],
            "media": [{"kind": "video", "url": f"/media/clip-{number}.mp4", "durationMs": milliseconds}]}, TOKEN)
        assert status in (200, 201), status


def watched_clip(rng, number):
    """That a session watched a clip: each part of one tells of another clip, so that each view counts."""
    return {"seen": [{"id": f"clip-{number}", "readyMs": 0, "watchedMs": rng.randrange(1, 20_000)}], "since": 0,
            "until": 30_000}


class Poster:
    """A connection that sends reports, one after the other."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def post(self, body, kind="application/json", path="/v1/reports", fields=()):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        self.connection.request("POST", path, body, {"Content-Type": kind, **dict(fields)})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status


def check_viewers(program, folder, viewers):
    """Viewers without screens, with the client library over shaped links."""
    server = RunningServer(program, folder, "--report-least-sessions", "1", "--reports-per-minute", "0",
                           "--log-format", "json", media=MEDIA)
    server.command("seed", "--probe", "--media-root", str(MEDIA), "--fixtures", str(FIXTURES))
    with server:
        def view(number, speed=20):
            network, strategy = NETWORKS[number % 3], STRATEGIES[number % 2]
            done = subprocess.run(
                [program, "browse", f"http://127.0.0.1:{server.port}", "--feed", "featured", "--items", "30", "--network",
                 network, "--strategy", strategy, "--speed", str(speed), "--report", "--json"],
                capture_output=True, text=True, timeout=120, env=environment())
            assert done.returncode == 0, done.stderr
            return network, strategy.split(":")[0], json.loads(done.stdout)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            # On a fast network nothing is cancelled, so that all that the server sent arrives; at a pace at which a
            # busy machine loads it in time.
            fast = list(pool.map(lambda number: view(number, 4), range(0, min(30, viewers), 3)))
            wait_until(lambda: is_written(server), 10)
            reported = sum(total(server)["bytes"].values())
            sent = sum(line["bytes"] for line in server.requests()
                       if line["path"].startswith("/media/") and line["status"] in (200, 206))
            expect(abs(reported - sent) <= 0.02 * sent, f"bytes: {reported} reported, {sent} sent by the log")
            seen = fast + list(pool.map(view, range(viewers - len(fast))))
        # The first part of each counts the session; the last one may still wait to be written.
        expect(wait_until(lambda: is_written(server) and total(server).get("sessions") == viewers, 10),
               f"{viewers} viewers reported")
        shown = live(server)
        told = shown["total"]
        expect(told["items"] == sum(one["items"] for *_, one in seen), f"items: {told['items']}")
        counted = {kind: sum(one[f"{kind}Loaders"] for *_, one in seen) for kind in ("image", "video")}
        expect(sum(told["loaders"].values()) == sum(counted.values()),
               f"loaders: {told['loaders']}, at the viewers {counted}")
        # A session that ended before it had measured its network has none.
        groups = {(group.get("network"), group["policy"]): group for group in shown["policies"]["groups"]}
        policies = {policy for _, policy in groups}
        expect(policies == {"plain", "weighted"}, f"policies: {sorted(policies)}")
        expect(sum(group["items"] for group in groups.values()) == told["items"], f"{len(groups)} groups add up to all")
        wasted = sum(told["bytes"].values()) - told["bytes"]["seen"]
        counted = sum(one["wastedBytes"] for *_, one in seen)
        # The viewers count what still arrived of requests that they had cancelled, which the library never saw.
        expect(0 <= counted - wasted <= 0.02 * counted, f"bytes that were not seen: {wasted}, at the viewers {counted}")
        month = wasted / 1e6 / told["sessions"] * shown["rates"]["monthSessions"]
        expect(abs(told["unseen"]["monthMB"] - month) < 0.01 and any("avoided" in group for group in groups.values()),
               f"the bill: {told['unseen']['monthMB']} MB and {told['unseen']['monthCents']} cents a person and month")
        text = server.command("live", "--hours", "2", "--report-least-sessions", "1")
        expect(f" {told['sessions']} " in text and "network and policy" in text, "lookahead live shows the same")


def check_kills(program, folder, seed):
    """Kills at random moments; whatever was not answered, and much of what was, is sent again."""
    rng = random.Random(seed)
    server = RunningServer(program, folder, "--report-least-sessions", "1", "--reports-per-minute", "0",
                           "--report-flush-milliseconds", "20", "--report-session-items", "1000000",
                           "--report-address-views", "0", "--report-halving-hours", "87600")
    parts = [part(session, number, **watched_clip(rng, number)) for session in range(60) for number in range(20)]
    rng.shuffle(parts)
    with server:
        put_clips(server, 20)
        kills = answered = 0
        # Everything is sent again and again, and at last once in full.
        for attempt in range(13):
            poster = Poster(server.port)
            moment = rng.randrange(len(parts)) if attempt < 12 else len(parts)
            try:
                for index, one in enumerate(parts):
                    if index == moment:
                        threading.Timer(rng.random() * 0.03, server.process.kill).start()
                    answered += poster.post(one) == 202
                if moment >= len(parts):
                    time.sleep(0.3)
                    break
            except (OSError, http.client.HTTPException):
                pass
            if not wait_until(lambda: not server.is_running(), 5):
                server.kill()
            server.process.wait(timeout=10)
            kills += 1
            server.start()
        wait_until(lambda: total(server).get("parts") == len(parts), 10)
        found = total(server)
        expect(found["parts"] == len(parts) and found["sessions"] == 60 and found["items"] == 10 * len(parts),
               f"after {kills} kills and {answered} answers, {found['parts']} of {len(parts)} parts are counted, each once "
               f"(seed {seed})")
        with sqlite3.connect(f"file:{server.database}?mode=ro", uri=True) as database:
            views = dict(database.execute("SELECT name, views FROM report_watch WHERE kind = 'item'"))
        expect(views == {f"clip-{number}": 60 for number in range(20)},
               f"and {sum(views.values())} views of {len(views)} clips, 60 of each")
        # At most a flush is lost of what was answered.
        poster = Poster(server.port)
        for number in range(50):
            assert poster.post(part(f"last-{number}")) == 202
        time.sleep(0.5)
        server.kill()
        server.start()
        expect(total(server)["parts"] == len(parts) + 50, "what was written before a kill is there")
        expect(server.terminate() == 0, "the server ends")


class FleetServer(RunningServer):
    """A server on a database that others have open, too."""

    def __init__(self, program, folder, address, *options):
        super().__init__(program, folder, *options)
        self.database = address

    def __enter__(self):
        self.start()
        return self


def check_fleet(program, folder, seed):
    """Three servers on one PostgreSQL, of which one is killed and started again, beside one server that is not: every part
    is sent to any of them, many to several."""
    rng = random.Random(seed)
    options = ("--report-least-sessions", "1", "--reports-per-minute", "0", "--report-flush-milliseconds", "50",
               "--report-session-items", "1000000", "--report-address-views", "0", "--report-halving-hours", "87600")
    parts = [part(session, number, **watched_clip(rng, number), feed=("featured", "videos")[session % 2], policy=f"p{session % 3}",
                  network={"downlink": (780, 20_000)[session % 2]}, items=rng.randrange(1, 90),
                  loaders={"image": rng.randrange(2), "page": rng.randrange(2)}, frameMs=[[rng.randrange(160), 1]],
                  stalls=rng.randrange(3), bytes={"seen": rng.randrange(10**7), "neverReached": rng.randrange(10**6)})
             for session in range(60) for number in range(12)]
    try:
        pair = Pair(folder, has_standby=False)
    except Skipped as reason:
        print(f"     skipped: three servers on one database: {reason}")
        return
    folders = [pathlib.Path(folder) / f"server-{number}" for number in range(4)]
    for one in folders:
        one.mkdir()
    with pair:
        servers = [FleetServer(program, one, pair.address(), *options) for one in folders[:3]]
        servers[0].command("seed", "--fixtures", str(FIXTURES))
        alone = RunningServer(program, folders[3], *options)
        with servers[0], servers[1], servers[2], alone:
            for server in (servers[0], alone):
                put_clips(server, 12)
            reference = Poster(alone.port)
            for one in parts:
                assert reference.post(one) == 202
            posters = [Poster(server.port) for server in servers]
            refused = answered = 0
            order = parts * 2
            rng.shuffle(order)
            for index, one in enumerate(order):
                if index == len(order) // 2:
                    servers[1].kill()
                if index == len(order) * 3 // 4:
                    servers[1].start()
                for number in rng.sample(range(3), rng.choice((1, 1, 2, 3))):
                    try:
                        answered += posters[number].post(one) == 202
                    except (OSError, http.client.HTTPException):
                        posters[number] = Poster(servers[number].port)
                        refused += 1
            # What a kill lost comes once more, as clients send what was not answered; everything else is repeated.
            for index, one in enumerate(parts):
                assert posters[index % 3].post(one) == 202
            expect(wait_until(lambda: all(map(is_written, [*servers, alone]))
                              and total(servers[0]).get("parts") == len(parts), 20),
                   f"{answered} answers and {refused} refusals of a fleet of three, one killed: "
                   f"{total(servers[0]).get('parts')} of {len(parts)} parts (seed {seed})")

            def sums(server):
                """All that is shown but what each server knows of its own addresses."""
                shown = live(server)
                groups = [shown["total"], *(group for name in ("policies", "feeds") for group in shown[name]["groups"])]
                known = [{key: value for key, value in group.items() if key != "sessionsOfOneAddress"} for group in groups]
                return known + shown["watching"]

            wanted = sums(alone)
            for number, server in enumerate(servers):
                expect(sums(server) == wanted, f"server {number} shows what one server alone does, in {len(wanted)} groups")
            views = [one["views"] for one in live(alone)["watching"]]
            expect(sum(views) == len(parts), f"{sum(views)} views in {len(views)} classes, one of each part")


def check_end(program, folder):
    server = RunningServer(program, folder, "--report-least-sessions", "1", "--reports-per-minute", "0",
                           "--report-flush-milliseconds", "3600000")
    with server:
        poster = Poster(server.port)
        for number in range(500):
            assert poster.post(part(number)) == 202
        assert not total(server)
        server.terminate()
        server.start()
        expect(total(server)["parts"] == 500, "SIGTERM writes what waits")


def check_hostile(program, folder, seed):
    """Reports that mean harm: none moves a figure by more than its share, and nothing is stored beyond the limits."""
    rng = random.Random(seed)
    server = RunningServer(program, folder, "--report-least-sessions", "1", "--reports-per-minute", "0",
                           "--report-cells", "50", "--report-flush-milliseconds", "50")
    with server:
        poster = Poster(server.port)
        for session in range(200):
            assert poster.post(part(f"honest-{session}")) == 202
        wait_until(lambda: total(server).get("parts") == 200, 10)
        before = total(server)
        kept = json.dumps(part("replayed-by-all"))
        statuses = {}
        for _ in range(10_000):
            choice = rng.randrange(8)
            kind, path = "application/json", "/v1/reports"
            if choice == 0:  # a replay
                body = kept
            elif choice == 1:  # numbers beyond their ranges
                body = part(rng.random(), items=rng.choice([-1, 1001, 10**18, 1e300, "9"]))
            elif choice == 2:  # more loaders than items
                body = part(rng.random(), loaders={"image": 10, "video": 10})
            elif choice == 3:  # noise
                body, kind = bytes(rng.randrange(256) for _ in range(rng.randrange(300))), rng.choice(
                    ["application/json", "application/cmcd", "text/plain"])
            elif choice == 4:  # one session that says a thousand items again and again
                body = part("one-session", rng.randrange(2880), **rng.choice([
                    {"items": 1000, "loaders": {"video": 1000}, "waitMs": [[100, 1000]]},
                    {"items": 0, "loaders": {"page": 10_000}}, {"items": 0, "stalls": 10_000},
                    {"items": 0, "bytes": {"neverReached": 450_000_000_000}}]))
            elif choice == 5 and rng.random() < 0.5:  # items: too many, unknown, impossible, the same again and again
                body = part("one-session", rng.randrange(2880), items=rng.choice([1, 200]), loaders={}, seen=rng.choice([
                    [{"id": "x"}] * 201, [{"id": f"item-{rng.random()}", "readyMs": 0, "watchedMs": 9}],
                    [{"id": "x", "watchedMs": 10**9}], [{"id": "x", "neededBytes": -1}], {"id": "x"}, [[]],
                    [{"id": "low tide", "readyMs": 0, "watchedMs": 1, "frameMs": 9999}]]))
            elif choice == 5:  # ever other names
                body = part(rng.random(), policy=f"policy-{rng.random()}", arm=f"arm-{rng.random()}", items=0, loaders={})
            elif choice == 6:
                body, kind = f'e=ps,sid="{rng.random()}",sn=0,sta=s,msd={rng.choice([-5, "1e9", 10**12])},ts=1,v=2', "application/cmcd"
            else:
                body = json.dumps(part(rng.random())) + " " * 70_000
            try:
                status = poster.post(body, kind, path)
            except (OSError, http.client.HTTPException):
                status, poster = 0, Poster(server.port)
            statuses[status] = statuses.get(status, 0) + 1
        time.sleep(0.5)
        after = live(server)
        found = after["total"]
        expect(set(statuses) <= {0, 202, 413, 422, 429}, f"10000 hostile reports: {dict(sorted(statuses.items()))} (seed {seed})")
        expect(found["items"] - before["items"] <= 3_600 + 10,
               f"they added {found['items'] - before['items']} items: those of one session, bounded, and one part")
        expect(sum(found["loaders"].values()) - sum(before["loaders"].values()) <= 3_601
               and sum(found["bytes"].values()) <= 40_000_000_000 and found["stalls"] <= 3_600,
               f"and {sum(found['loaders'].values()) - sum(before['loaders'].values())} loaders, "
               f"{sum(found['bytes'].values())} bytes, {found['stalls']} stalls")
        names = len(after["policies"]["groups"])
        metrics = server.metrics()
        counted = metrics['lookahead_report_items_total{outcome="counted"}']
        expect(counted <= 200 and not after["files"], f"{counted:.0f} views of clips count, and no promise broke")
        expect(names <= 51, f"{names} kinds of sessions are told apart")
        expect(server.is_running() and server.get("/rp/?feed=featured&limit=5")[0] == 200, "the server goes on")


def planted(share):
    """Of a thousand, how many watch on: all to half at a tenth, to a fifth at the end, to none at twice the duration."""
    if share < 0.1:
        return 1000 - 5000 * share
    if share < 1:
        return 500 - 300 * (share - 0.1) / 0.9
    return max(0, 200 - 200 * (share - 1))


def watched(rng):
    """How long somebody watches, in shares of the duration, as planted."""
    rest = rng.random() * 1000
    if rest >= 500:
        return (1000 - rest) / 5000
    if rest >= 200:
        return 0.1 + (500 - rest) / 300 * 0.9
    return 1 + (200 - rest) / 200


def at(survival, time):
    """The share of a thousand at a time: straight between the points."""
    before, share = 0, 1000
    for moment, permille in survival:
        if moment >= time:
            return share + (permille - share) * (time - before) / max(1, moment - before)
        before, share = moment, permille
    return share


def check_watching(program, folder, seed):
    """Retention planted in what sessions report is found again on pages, also where half leave while they wait."""
    rng = random.Random(seed)
    duration = 20_000
    server = RunningServer(program, folder, "--reports-per-minute", "0", "--report-address-views", "0",
                           "--report-flush-milliseconds", "50", "--report-publish-seconds", "1")
    with server:
        for item in ("stays", "waits"):
            status, *_ = server.ask("PUT", f"/v1/items/{item}", {
                "type": "video", "feeds": [{"name": "featured"}],
                "media": [{"kind": "video", "url": f"/media/{item}.mp4", "durationMs": duration, "bytes": 1_000_000}]}, TOKEN)
            assert status in (200, 201), status
        poster = Poster(server.port)
        views, errors = 0, []
        for target in (50, 200, 1000, 4000):
            while views < target:
                views += 1
                seen = []
                for item in ("stays", "waits"):
                    time_, leaves = watched(rng) * duration, item == "waits" and rng.random() < 0.5
                    left = rng.random() * 2 * duration if leaves else time_ + 1
                    seen.append({"id": item, "readyMs": 0, "watchedMs": int(min(time_, left)), "leftWaiting": left < time_})
                assert poster.post(part(f"watcher-{views}", items=2, loaders={}, until=90_000, seen=seen)) == 202
            wait_until(lambda: is_written(server), 10)
            # Twice what it takes to publish.
            time.sleep(2.5)
            pages = {item: json.loads(server.get(f"/v1/items/{item}")[2]).get("survival") for item in ("stays", "waits")}
            errors.append((views, *(max(abs(at(curve, duration * step / 16) - planted(step / 16)) for step in range(1, 32))
                                    if curve else None for curve in pages.values())))
        shown = ", ".join(f"{views} views {stays:.0f} and {waits:.0f}" for views, stays, waits in errors if stays and waits)
        last = errors[-1]
        # What is published may be 30 of a thousand behind.
        expect(last[1] is not None and last[1] < 70 and last[2] is not None and last[2] < 90,
               f"of a thousand the curves are off by at most, with nobody and with half leaving while waiting: {shown} "
               f"(seed {seed})")
        kept = server.get("/rp/?feed=featured&limit=30")[1]["ETag"]
        for number in range(20):
            poster.post(part(f"later-{number}", items=1, loaders={}, until=90_000,
                             seen=[{"id": "stays", "readyMs": 0, "watchedMs": 500}]))
        time.sleep(2.5)
        expect(server.get("/rp/?feed=featured&limit=30")[1]["ETag"] == kept, "a few views more do not change the page")
        plan = {"at": 0, "feed": "featured", "items": ["stays"], "active": "stays", "activeForMs": 0, "direction": "down"}
        expect(server.ask("POST", "/v1/plan", plan)[0] == 200, "a plan knows the curve")


def clip(path, seconds, size):
    """A clip of this many seconds whose first frame takes few or many bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:d={seconds}", "-c:v", "libx264", "-pix_fmt",
         "yuv420p", "-movflags", "+faststart", str(path)], check=True, timeout=120)


def starts(content, folder):
    """Whether a decoder shows a frame of these bytes."""
    file = pathlib.Path(folder) / "start.mp4"
    file.write_bytes(content)
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", str(file), "-frames:v", "1", "-f", "null", "-"], capture_output=True,
                          timeout=60)
    return done.returncode == 0 and not done.stderr


def check_ledger(program, folder):
    """A file that another one replaces behind its URL: its promise is found broken, it is probed again, and is true."""
    media = pathlib.Path(folder) / "media"
    file = media / "clip.mp4"
    clip(file, 4, "160x120")
    server = RunningServer(program, folder, "--reports-per-minute", "0", "--report-address-views", "0",
                           "--report-flush-milliseconds", "20", "--media-probe-interval-seconds", "86400", media=media)
    with server:
        assert server.ask("PUT", "/v1/items/clip", {
            "type": "video", "feeds": [{"name": "featured"}], "media": [{"kind": "video", "url": "/media/clip.mp4"}]},
            TOKEN)[0] in (200, 201)
        server.command("media", "add", str(media), "--media-root", str(media))
        poster, numbers, decoded = Poster(server.port), iter(range(1_000_000)), {}

        def hint():
            return json.loads(server.get("/v1/items/clip")[2])["media"][0].get("start")

        def view(start):
            """A session that loads what starts the clip as its page said, decodes it, and reports."""
            needed = start["headBytes"]
            status, _, content = server.get("/media/clip.mp4", {"Range": f"bytes=0-{needed - 1}"})
            assert status == 206, status
            if content not in decoded:
                decoded[content] = starts(content, folder)
            seen = {"id": "clip", "heldBytes": needed, "neededBytes": needed, "readyMs": 0, "watchedMs": 4000}
            if decoded[content]:
                seen["frameMs"] = 60
            # Another item that the same client showed: it tells of first frames.
            other = {"id": "other", "readyMs": 0, "frameMs": 60, "watchedMs": 100}
            body = part(f"decoder-{next(numbers)}", items=2, loaders={}, until=60_000, seen=[seen, other])
            assert poster.post(body) == 202
            wait_until(lambda: is_written(server), 10)

        assert wait_until(hint, 20)
        first = hint()
        for _ in range(100):
            view(first)
        expect(hint() == first, f"100 views hold the promise of {first['headBytes']} bytes")
        beside = pathlib.Path(folder) / "other.mp4"
        clip(beside, 6, "1280x720")
        beside.replace(file)
        views = 0
        while views < 600 and hint() == first:
            view(first)
            views += 1
        broken = server.metrics().get("lookahead_broken_promises_total")
        expect(broken == 1, f"replaced by another file, it is found broken after {views} views")
        expect("withdrew a file's start" in server.log.read_text() and "/media/clip.mp4" in server.log.read_text(), "the log names it")
        expect(wait_until(lambda: hint() not in (None, first), 30), f"it was probed again: {hint()['headBytes'] if hint() else None} bytes")
        second = hint()
        for _ in range(100):
            view(second)
        files = {one["url"]: one["state"] for one in live(server)["files"]}
        expect(hint() == second and server.metrics()["lookahead_broken_promises_total"] == 1 and all(decoded[content]
               for content in decoded if len(content) == second["headBytes"]), f"100 views hold the new promise; {files}")


def check_signed(program, folder):
    """Reports of clients that were given a page: client libraries, players, and those that were given none."""
    keys, other = (pathlib.Path(folder) / name for name in ("keys", "other"))
    keys.write_text(secrets.token_hex(32))
    other.write_text(secrets.token_hex(32))
    server = RunningServer(program, folder, "--report-least-sessions", "1", "--reports-per-minute", "0", "--reports", "signed",
                           "--report-key-file", str(keys), "--report-flush-milliseconds", "50", media=MEDIA)
    with server:
        page = "/rp/?feed=featured&limit=1"

        def browse(*options):
            done = subprocess.run(
                [program, "browse", server.url(), "--feed", "featured", "--items", "5", "--pace", "100ms", "--speed", "5",
                 "--report", *options], capture_output=True, text=True, timeout=60, env=environment())
            assert done.returncode == 0, done.stderr

        browse()
        wait_until(lambda: is_written(server) and total(server), 10)
        policy = json.loads(server.get(page)[2])["prefetch"]["policy"]
        groups = live(server)["policies"]["groups"]
        expect([group["policy"] for group in groups] == [policy], f"browse --report counts to {policy}")
        poster = Poster(server.port)
        token = server.get(page)[1]["Report-Token"]
        expect(poster.post(part("honest", token=token)) == 202, "a report with the token of a page is taken")
        line = 'e=ps,sid="player",sn=0,sta=s,ts=1,v=2'
        expect(poster.post(f'{line},io.lookahead-token="{token}"', "application/cmcd", "/v1/reports?feed=featured") == 202
               and poster.post(line, "application/cmcd", "/v1/reports?feed=featured") == 403, "CMCD carries it in a key")
        refused = [poster.post(part(f"made-up-{number}", **members)) for number, members in enumerate(
            [{}, {"token": token[:-1]}, {"token": token, "feed": "videos"}, {"token": "1." + token}, {"token": "9" + token}] * 40)]
        expect(set(refused) == {403}, f"{len(refused)} reports without it are refused")
        # Other servers: one with the key, and one that has exchanged it, with the old one behind the new one and without.
        for written, status in ((keys, 202), (f"{other.read_text()}\n{keys.read_text()}", 202), (other, 403)):
            beside = pathlib.Path(folder) / "beside"
            beside.write_text(written if isinstance(written, str) else written.read_text())
            with FleetServer(program, folder, server.database, "--reports", "signed", "--report-key-file", str(beside),
                             "--reports-per-minute", "0") as another:
                expect(Poster(another.port).post(part(f"beside-{status}", token=token)) == status,
                       f"a server with {'its' if status == 202 else 'another'} key answers {status}")
                another.terminate()
        expect(wait_until(lambda: is_written(server) and total(server).get("sessions") == 4, 10),
               f"{total(server)['sessions']} sessions count")


def check_load(program, folder, rate, has_one_core, seconds=10):
    """Reports beside readers: how long pages take with them and without; the server has the first core alone, if told."""
    server = RunningServer(program, folder, "--report-least-sessions", "1", "--reports-per-minute", "0",
                           "--no-access-log")
    if has_one_core:
        server.before = ["taskset", "--cpu-list", "0"]
    with server:
        def pages(until):
            times = []
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            while time.monotonic() < until:
                begun = time.perf_counter()
                connection.request("GET", "/rp/?feed=featured&limit=30")
                connection.getresponse().read()
                times.append(time.perf_counter() - begun)
                time.sleep(0.002)
            return sorted(times)

        def quantile(times, share):
            return 1000 * times[min(len(times) - 1, int(len(times) * share))]

        quiet = pages(time.monotonic() + 4)
        sender = subprocess.Popen(
            [sys.executable, __file__, "--send", str(server.port), str(rate), str(seconds)], stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        cpu = server.cpu_seconds()
        begun = time.monotonic()
        busy = pages(begun + seconds - 2)
        cpu, took = server.cpu_seconds() - cpu, time.monotonic() - begun
        sent = int(sender.communicate(timeout=60)[0])
        expect(wait_until(lambda: total(server).get("parts") == sent, 20), f"{sent} reports in {seconds} s are counted")
        print(f"     pages: median {quantile(quiet, .5):.2f} ms and 99 % {quantile(quiet, .99):.2f} ms without reports, "
              f"{quantile(busy, .5):.2f} and {quantile(busy, .99):.2f} ms with {sent / seconds:.0f} a second; "
              f"{quantile(busy, .99) / quantile(quiet, .99):.2f} times; the server took {100 * cpu / took:.0f} % of a "
              f"processor; load of the machine {os.getloadavg()[0]:.1f}")


def send(port, rate, seconds):
    """Sends reports at a rate over 64 connections, each with one on its way; prints how many."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(64)]
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    body = json.dumps({**part("SESSION"), "waitMs": [[64, 1]], "frameMs": [[40, 6], [44, 4]], "bytes": {
        "seen": 2_000_000, "left": 1_000, "neverReached": 100_000}, "requests": 12, "plans": 1, "since": 0, "until": 30000})
    begun, is_asked = time.monotonic(), [False] * len(connections)

    def read(index):
        answer = connections[index].recv(4096)
        assert answer.startswith(b"HTTP/1.1 202") and answer.endswith(b"\r\n\r\n"), answer
        is_asked[index] = False

    for sent in range(rate * seconds):
        wait = begun + sent / rate - time.monotonic()
        if wait > 0.0005:
            time.sleep(wait)
        index = sent % len(connections)
        if is_asked[index]:
            read(index)
        content = body.replace("SESSION", str(sent)).encode()
        connections[index].sendall(b"POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                                   b"Content-Length: " + str(len(content)).encode() + b"\r\n\r\n" + content)
        is_asked[index] = True
    for index, asked in enumerate(is_asked):
        if asked:
            read(index)
    print(rate * seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--rate", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--one-core", action="store_true", help="under load the server has one core")
    checks = {
        "viewers": lambda folder: check_viewers(options.program, folder, options.viewers),
        "kills": lambda folder: check_kills(options.program, folder, options.seed),
        "fleet": lambda folder: check_fleet(options.program, folder, options.seed),
        "end": lambda folder: check_end(options.program, folder),
        "hostile": lambda folder: check_hostile(options.program, folder, options.seed),
        "watching": lambda folder: check_watching(options.program, folder, options.seed),
        "ledger": lambda folder: check_ledger(options.program, folder),
        "signed": lambda folder: check_signed(options.program, folder),
        "load": lambda folder: check_load(options.program, folder, options.rate, options.one_core),
    }
    parser.add_argument("--only", choices=checks, action="append")
    options = parser.parse_args()
    for _ in range(options.rounds):
        for name in options.only or checks:
            with tempfile.TemporaryDirectory() as folder:
                checks[name](folder)
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--send"]:
        send(*map(int, sys.argv[2:5]))
    else:
        main()
