"""The closed loop of experiments and tuning, end to end: check_tuning.py PROGRAM [--seed N] [--sessions N] [--days N]
[--repeats N] [--only reads].

Prints a line for each check with its figures; status 1 where one does not hold.
"""

import argparse
import calendar
import csv
import http.client
import io
import json
import math
import os
import pathlib
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / name) for name in ("load", "faults")] + [str(HERE)]

import faults  # noqa: E402
from check_reports import Poster, expect, failures, is_written  # noqa: E402
from running import RunningServer, TOKEN, environment, wait_until  # noqa: E402

BAD = "plain:leading=1"
# Far enough from each other that a person would call them different policies.
PRICES = (25, 500, 25_000, 100_000)
ITEMS = 50
NETWORK = "3g"
MARGIN = 0.05
# What the servers' lab runs by.
LAB = [f"LOOKAHEAD_ITEMS={ITEMS}", "LOOKAHEAD_PRICE=" + ",".join(map(str, PRICES))]
# The world, and that of the days from the tenth on: links around this many kbit/s; how many of a hundred items are pictures,
# of how many bytes, how long clips play and what their seconds have, each with the spread of its logarithm. In the first
# a low price is the best, in the other one a high price. All links are of the class 3G: round trips of 270 ms and more.
WORLD, LATER, LATER_DAY = (2_500, 60, (90_000, 0.8), (9, 0.5), (800, 0.5)), (950, 70, (60_000, 0.8), (30, 0.5), (250, 0.3)), 10
LEAST_KBPS = 900
# This many links stand for those of all viewers; the tuner sees what they measure.
LINKS = 16
# Of a night, when something is due at the earliest after what was done last.
NIGHT_HOURS, DUE_HOURS = 6, 20
# Servers have decided by then, and begun what is due; a lease of one that died is over.
DECISION_SECONDS, LOOK_SECONDS, LEASE_SECONDS = 1.5, 20, 130


def arm_of(experiment, number):
    """As docs/experiments.md has it."""
    value = 2166136261
    for byte in experiment["salt"].encode() + number.to_bytes(4, "little"):
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    value = (value ^ value >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ value >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    value ^= value >> 16
    shares = experiment["shares"]
    return "a" if value * sum(shares) >> 32 < shares[0] else "b"


def feed_of(_, pictures, size, length, rate):
    """Eighty items."""
    numbers = random.Random(5)

    def drawn(middle, spread):
        return middle * math.exp(numbers.gauss(0, spread))

    yield {"feed": {"name": "featured", "title": "Featured"}}
    for place in range(80):
        post = {"id": f"post-{place}", "type": "video", "feeds": [{"name": "featured", "rank": place}],
                "publishedAt": "2026-01-01T00:00:00Z"}
        if numbers.random() * 100 < pictures:
            post["type"] = "image"
            media = {"kind": "image", "mimeType": "image/jpeg", "width": 1080, "height": 1350, "bytes": int(drawn(*size))}
        else:
            seconds = drawn(*length)
            media = {"kind": "video", "mimeType": "video/mp4", "width": 720, "height": 1280,
                     "durationMs": int(1000 * seconds), "bytes": int(125 * seconds * drawn(*rate))}
        yield {**post, "media": [{"url": f"/media/{place}", **media}]}


class World:
    """Sessions of viewers whom the tuner has not seen, over links that it has not seen, for each policy as the lab has
    them: loaders and bytes of fifty items."""

    def __init__(self, fleet, folder, numbers, world):
        self.random, self.pools = numbers, {}
        fleet.seed(feed_of(*world))
        folder = folder / f"links-{world[0]}"
        folder.mkdir()
        self.links = {}
        for place in range(LINKS):
            rate, delay = max(LEAST_KBPS, int(world[0] * math.exp(numbers.gauss(0, 0.15)))), numbers.randrange(280, 340)
            (folder / f"link-{place:02}.json").write_text(
                json.dumps([{"duration_ms": 60_000, "bandwidth_kbps": rate, "latency_ms": delay}]))
            self.links[f"link-{place:02}"] = (rate, delay)
        self.policies = [BAD, "endless"] + [f"expected-wait:price={price}" for price in PRICES]
        table = fleet.command(
            "lab", "run", "--feed", "featured", "--trace", str(folder), "--items", str(ITEMS), "--repeats", "12",
            "--seed", str(numbers.randrange(1 << 20)), "--format", "csv", *[word for text in self.policies for word in ("--strategy", text)])
        for row in csv.DictReader(io.StringIO(table)):
            self.pools.setdefault(row["strategy"], []).append(
                (row["network"], round(float(row["loaders"]) * ITEMS / 1000), round(float(row["kilobytes"]) * ITEMS * 1000)))

    def loaders(self, policy):
        pool = self.pools[policy]
        return 1000 * sum(loaders for _, loaders, _ in pool) / len(pool) / ITEMS

    def size(self, policy):
        return sum(size for *_, size in self.pools[policy]) / len(self.pools[policy])

    def best(self, beside):
        """By an exhaustive search: of all that the tuner may try at the bytes of the policy in force."""
        usable = [one for one in self.pools
                  if one == beside or one.startswith("expected") and self.size(one) <= 1.2 * self.size(beside)]
        return min(usable, key=self.loaders)

    def session(self, policy):
        """What it met, and the link as its client measured it."""
        link, loaders, size = self.random.choice(self.pools[policy])
        rate, delay = self.links[link]
        return loaders, size, {"downlink": int(rate * self.random.uniform(0.9, 1.1)), "rtt": int(delay * self.random.uniform(1, 1.15))}

    def __str__(self):
        return ", ".join(f"{name.removeprefix('expected-wait:')} {self.loaders(name):.0f}" for name in self.policies)


class Pipeline:
    """A connection that sends reports without waiting for the answer to each."""

    AT_ONCE = 64

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.answers = self.socket.makefile("rb")

    def post(self, documents):
        """All of them are taken."""
        for place in range(0, len(documents), self.AT_ONCE):
            bodies = [json.dumps(one).encode() for one in documents[place:place + self.AT_ONCE]]
            self.socket.sendall(b"".join(
                b"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (len(body), body) for body in bodies))
            for _ in bodies:
                self.take_answer()

    def take_answer(self):
        status, length = self.answers.readline(), 0
        while (field := self.answers.readline()) not in (b"\r\n", b""):
            name, _, value = field.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self.answers.read(length)
        assert status.split()[1:2] == [b"202"], (status, body)

    def close(self):
        self.answers.close()
        self.socket.close()


class Fleet:
    """Two servers of one database, one of which is killed now and then; hours pass when they are told to."""

    def __init__(self, program, folder, library, sessions, repeats, numbers):
        self.faults = faults.Faults(library, folder / "faults")
        self.folder = folder
        self.servers = []
        # The night begins three hours from now, and again each day of the clock that is moved.
        self.night = (int(time.time()) // 3600 + 3) % 24
        for _ in range(2):
            server = RunningServer(program, folder, "--experiment-seconds", "1", "--reports-per-minute", "0",
                                   "--report-flush-milliseconds", "50", "--no-access-log", "--log-level", "notice",
                                   "--tune", "auto", "--tune-hour", str(self.night), "--tune-sessions", "50", "--tune-nice", "0")
            server.before = ["env", *LAB, f"LOOKAHEAD_REPEATS={repeats}", *self.faults.before]
            server.log = folder / f"server-{len(self.servers)}.log"
            self.servers.append(server)
        self.program, self.random, self.sessions = program, numbers, sessions
        self.hours = self.number = 0
        self.never_draws = False
        self.most_tuners = 0

    def __enter__(self):
        self.seed(feed_of(*WORLD))
        database = sqlite3.connect(self.servers[0].database)
        database.execute("DELETE FROM policy WHERE feed = 'featured'")
        database.execute("UPDATE policy SET name = ?, strategy = 'plain', parameters = '{\"leading\":1}' WHERE feed IS NULL", (BAD,))
        database.commit()
        database.close()
        for server in self.servers:
            server.start()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            if server.process is not None:
                server.__exit__()

    @property
    def server(self):
        return self.servers[0]

    @property
    def day(self):
        return self.hours // 24 + 1

    def seed(self, records):
        file = self.folder / "feed.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.command("seed", str(file))

    def command(self, *arguments):
        """A command on the servers' clock."""
        done = subprocess.run(
            [*self.faults.before, self.program, *arguments], capture_output=True, text=True, timeout=600,
            env=environment(LOOKAHEAD_DATABASE=str(self.server.database)))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def page(self):
        return json.loads(self.server.get(f"/rp/?feed=featured&network={NETWORK}&limit=1")[2])["prefetch"]

    def experiments(self):
        return json.loads(self.server.get("/v1/experiments")[2])["experiments"]

    def trials(self):
        return [one for one in reversed(self.experiments()) if one["kind"] == "trial" and "started" in steps(one)]

    def running(self):
        return next((one for one in self.trials() if one["running"]), None)

    def policies(self):
        """Those of both arms."""
        networks = json.loads(self.server.get("/v1/networks?feed=featured")[2])["networks"]
        network = next(network for network in networks if network["name"] == NETWORK)
        return network["policy"]["name"], network.get("experiment", {}).get("policy", {}).get("name")

    def hour(self, world):
        """An hour of sessions, at which the servers look in the next one; what it had of loaders, by the policies' truth."""
        experiment = self.page().get("experiment")
        ours, tried = self.policies()
        reports = []
        for _ in range(self.sessions // 24):
            self.number += 1
            arm = arm_of(experiment, self.random.randrange(1 << 32)) if experiment else "a"
            if self.never_draws:
                arm = "b"
            policy = tried if arm == "b" else ours
            loaders, size, link = world.session(policy)
            reports.append({
                "session": f"session-of-the-tuning-{self.number}", "part": 0, "feed": "featured", "policy": policy[:100],
                "arm": f"{experiment['id']}.{arm}" if experiment else "", "network": link,
                "items": ITEMS, "until": 60_000, "loaders": {"video": loaders}, "bytes": {"seen": size},
            })
        server = self.random.choice(self.servers)
        pipeline = Pipeline(server.port)
        pipeline.post(reports)
        pipeline.close()
        assert wait_until(lambda: is_written(server), 60), "reports are not written"
        self.hours += 1
        self.faults.move_clock(3600 * self.hours)
        # Where nothing is tried, nothing is decided that could not wait for a few hours: a hold-out is for ever.
        is_tried = experiment is not None and self.running() is not None
        if is_tried or experiment and self.hours % 6 == 0:
            time.sleep(DECISION_SECONDS)
        if self.random.random() < 0.03:
            # The clock jumps back, by more than any lease, and on again.
            self.faults.move_clock(3600 * max(0, self.hours - 3))
            time.sleep(DECISION_SECONDS)
            self.faults.move_clock(3600 * self.hours)
        if self.random.random() < 0.05:
            # Whoever decides: the other one goes on.
            killed = self.random.choice(self.servers)
            killed.kill()
            killed.start()
        return ours, tried if is_tried else None

    def is_due(self):
        """Whether the servers should look for something in this hour."""
        hour = (int(time.time()) // 3600 + self.hours) % 24
        if (hour - self.night) % 24 >= NIGHT_HOURS or self.running():
            return False
        times = [step["at"] for one in self.experiments() if one["kind"] == "trial" for step in one["steps"]]
        return not times or time.time() + 3600 * self.hours - max(map(seconds, times)) >= 3600 * DUE_HOURS

    def look(self, meet=lambda server: False):
        """Waits until the servers' lab has done what is due in this hour; whether it did something."""
        if not self.is_due():
            return False
        known = self.steps_taken()
        # They look every five seconds where nothing was due, and a run that was killed is begun anew by the other one once
        # the lease is over.
        patience = time.monotonic() + LOOK_SECONDS
        while time.monotonic() < patience:
            tuners = self.tuners()
            self.most_tuners = max(self.most_tuners, len(tuners))
            if tuners:
                patience = time.monotonic() + (LEASE_SECONDS if meet(tuners[0]) else LOOK_SECONDS)
            elif self.steps_taken() > known:
                return True
            time.sleep(0.2)
        return False

    def steps_taken(self):
        return sum(len(one["steps"]) for one in self.experiments())

    def until(self, world, hours, holds):
        """How many hours it took; None if it never held."""
        for passed in range(1, hours + 1):
            self.hour(world)
            if holds():
                return passed
        return None

    def tune_no_more(self):
        """From here on experiments are begun by hand."""
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.options[server.options.index("auto")] = "off"
            server.start()
        for one in self.experiments():
            if one["running"] and one["kind"] == "trial":
                self.command("experiment", "stop", str(one["id"]))
        assert wait_until(lambda: not self.running(), 20), "a stopped experiment runs"

    def begin(self, against):
        """An experiment by hand; its number."""
        status, _, body = self.server.ask(
            "POST", "/v1/experiments", {"feed": "featured", "network": NETWORK, "against": against}, token=TOKEN)
        assert status == 201, body
        return json.loads(body)["id"]

    def tuners(self):
        """The servers whose processes look for a better policy now, one for each process."""
        found = []
        for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = file.read_bytes().split(b"\0")
                parent = int(file.with_name("stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            found += [server for server in self.servers if b"tune" in words[:2] and server.process.pid == parent]
        return found


def seconds(text):
    """A time as experiments have it, in seconds since 1970."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def steps(experiment):
    return [step["kind"] for step in experiment["steps"]]


def check_history(fleet):
    """Whoever was killed when: no two experiments at once on the same sessions, and none that is half there."""
    database = sqlite3.connect(fleet.server.database)
    half = database.execute("SELECT count(*) FROM experiment WHERE experiment_id NOT IN (SELECT experiment_id FROM experiment_step)")
    expect(half.fetchone()[0] == 0, "no experiment is without a step")
    spans = sorted((one["steps"][0]["at"], "9" if one["running"] else one["steps"][-1]["at"], one.get("network"))
                   for one in fleet.trials())
    both = [(a, b) for index, a in enumerate(spans) for b in spans[index + 1:]
            if b[0] < a[1] and (a[2] is None or b[2] is None or a[2] == b[2])]
    expect(not both, f"no two of {len(spans)} experiments on the same sessions ran at once {both or ''}")
    applied = database.execute("SELECT evidence FROM experiment_step WHERE kind = 'applied'").fetchall()
    expect(all(json.loads(row[0]).get("finding") for row in applied), f"each of {len(applied)} policies that were applied has its evidence")
    database.close()


def check_days(fleet, folder, numbers, days):
    """The days alone: how far what is in force is from the best, and what trying cost."""
    world = World(fleet, folder, numbers, WORLD)
    print(f"     loaders of 1000 items on day 1: {world}", flush=True)
    goal = world.best(BAD)
    killed, reached, tried_hours, replaced_hours, said, before = [], {}, {}, {}, set(), None

    def meet(server):
        """The first server that looks is killed while it does; whether it was."""
        if killed:
            return False
        killed.append(server)
        server.kill()
        expect(wait_until(lambda: not [one for one in fleet.tuners() if one is server], 10), "whose server is killed looks no more")
        server.start()
        expect(not fleet.trials(), "and has written nothing")
        return True

    while fleet.day <= days:
        day = fleet.day
        if day == LATER_DAY and fleet.hours % 24 == 0:
            known = fleet.policies()[0]
            world = World(fleet, folder, numbers, LATER)
            goal = world.best(known)
            # What it replaced may be better here: that is for the tuner to find out, and no fault of what put it in force.
            before = (known, known)
            print(f"     from day {LATER_DAY} on: {world}", flush=True)
            expect(world.loaders(known) > (1 + MARGIN) * world.loaders(goal),
                   f"links are slower and clips longer: {known} has {world.loaders(known):.0f} loaders, the best {goal} {world.loaders(goal):.0f}")
        ours, tried = fleet.hour(world)
        fleet.look(meet)
        phase = "first" if day < LATER_DAY else "later"
        # From which day on it stays there.
        if world.loaders(ours) <= (1 + MARGIN) * world.loaders(goal):
            reached.setdefault(phase, (day, ours))
        else:
            reached.pop(phase, None)
        # What was put in force, and is worse than what it replaced.
        if before and ours != before[0]:
            before = (ours, before[0])
        before = before or (ours, ours)
        if world.loaders(ours) > (1 + MARGIN) * world.loaders(before[1]):
            replaced_hours[before] = replaced_hours.get(before, 0) + 1
        # What was worse than the policy in force by more than the margin, and for how long.
        if tried and world.loaders(tried) > (1 + MARGIN) * world.loaders(ours):
            number = fleet.trials()[-1]["id"]
            tried_hours[number] = tried_hours.get(number, 0) + 1
        if fleet.hours % 24 == 0:
            print(f"     day {fleet.hours // 24}: {ours} in force, {world.loaders(ours):.0f} loaders, the best {world.loaders(goal):.0f}; "
                  f"{len(fleet.trials())} experiments", flush=True)
        for one in reversed(fleet.experiments()):
            for place, step in enumerate(one["steps"]):
                if (one["id"], place) not in said and step["kind"] != "ramped" and (one["kind"] == "trial" or place > 0):
                    print(f"     day {day}, hour {fleet.hours % 24}: {one['kind']} {one['id']}, {one['policy']['name']}: {step['kind']}: "
                          f"{step['evidence'].get('reason')}", flush=True)
                said.add((one["id"], place))

    expect(killed and fleet.most_tuners <= 1,
           f"of two servers {fleet.most_tuners} looks for a policy at a time, and the other one goes on where it is killed")
    for phase, since in (("first", 1), ("later", LATER_DAY)):
        if since > days:
            continue
        day, policy = reached.get(phase, (None, None))
        expect(day, f"within 5 % of the best from day {day} on, {(day or 0) - since + 1} days after it began: {policy}")
    worst = max(tried_hours.values(), default=0)
    expect(worst <= 24, f"{len(tried_hours)} experiments tried what was worse by more than the margin, for {worst} hours at the most")
    worst = max(replaced_hours.values(), default=0)
    expect(worst <= 24, f"what was put in force was worse than what it replaced for {worst} hours at the most {replaced_hours or ''}")
    return world


def check_by_hand(fleet, world):
    """What is worse is rolled back, and clients that do not draw are found."""
    name, _ = fleet.policies()
    number = fleet.begin("endless")
    took = fleet.until(world, 24, lambda: not fleet.experiments()[0]["running"])
    bad = fleet.experiments()[0]
    met = sum((bad["steps"][-1]["evidence"].get("finding") or {}).get("sessions", [0, 0])[1:])
    expect(bad["id"] == number and steps(bad)[-1] == "rolledBack",
           f"a bad policy is rolled back after {took} hours and {met} sessions: {bad['steps'][-1]['evidence']['reason']}")
    expect(fleet.policies()[0] == name, "what was in force stays in force")
    fleet.begin(BAD)
    fleet.never_draws = True
    took = fleet.until(world, 24, lambda: not fleet.experiments()[0]["running"])
    stopped = fleet.experiments()[0]
    expect(steps(stopped)[-1] == "stopped",
           f"clients that do not draw end it after {took} hours: {stopped['steps'][-1]['evidence']['reason']}")


def check_undo(fleet):
    history = sqlite3.connect(fleet.server.database)
    for statement in ("UPDATE experiment_step SET kind = 'ended'", "DELETE FROM experiment_step"):
        try:
            history.execute(statement)
            refused = False
        except sqlite3.IntegrityError:
            refused = True
        expect(refused, f"{statement}: refused")
    history.close()
    said = ""
    # The newest first: an older one was followed by another policy.
    for one in [one for one in fleet.experiments() if steps(one)[-1] == "applied"]:
        said = fleet.command("experiment", "undo", str(one["id"]))
    expect(wait_until(lambda: fleet.policies()[0] == BAD, 20), f"{said}: {BAD} is in force again")
    expect("is sound" in fleet.command("check"), "check finds nothing")


def check_reads(program, folder, turns=24, turn_seconds=2.5):
    """How long pages take while the lab looks for a policy, beside the same server with the lab stopped, in turns: what else
    the machine does is in both, and of the turns' quantiles the middle one is taken."""
    server = RunningServer(program, folder, "--experiment-seconds", "1", "--reports-per-minute", "0", "--no-access-log",
                           "--tune", "suggest", "--tune-hour", str(int(time.time()) // 3600 % 24), "--tune-sessions", "50")
    # More than it can do within the turns.
    server.before = ["env", "LOOKAHEAD_ITEMS=100000", "LOOKAHEAD_REPEATS=10000"]
    with server:
        poster = Poster(server.port)
        for number in range(1_000):
            poster.post({"session": f"session-of-the-reads-{number}", "part": 0, "feed": "featured", "policy": "p",
                         "network": {"downlink": 780, "rtt": 200}, "items": 10, "until": 60_000})

        def lab():
            for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    parent = int(file.with_name("stat").read_text().rpartition(")")[2].split()[1])
                    if parent == server.process.pid and b"tune" in file.read_bytes().split(b"\0")[:2]:
                        return int(file.parent.name)
                except (OSError, IndexError, ValueError):
                    continue
            return None

        expect(wait_until(lambda: lab() is not None, 60), "the lab looks for a policy")
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        middles, tails, costs, took = ({True: [], False: []} for _ in range(4))
        pages = 0
        for turn in range(turns):
            # Neither is always the first of two.
            is_on = turn % 4 in (0, 3)
            process, times = lab(), []
            os.kill(process, signal.SIGCONT if is_on else signal.SIGSTOP)
            begun, before, own = time.monotonic(), processor_seconds(process), server.cpu_seconds()
            while time.monotonic() < begun + turn_seconds:
                since = time.perf_counter()
                connection.request("GET", "/rp/?feed=featured&limit=30")
                connection.getresponse().read()
                times.append(time.perf_counter() - since)
                time.sleep(0.002)
            times.sort()
            pages += len(times)
            middles[is_on].append(1_000 * times[len(times) // 2])
            tails[is_on].append(1_000 * times[len(times) * 99 // 100])
            costs[is_on].append(1e6 * (server.cpu_seconds() - own) / len(times))
            took[is_on].append((processor_seconds(process) - before) / turn_seconds)
        os.kill(lab(), signal.SIGCONT)

        def middle(values, is_on):
            return sorted(values[is_on])[len(values[is_on]) // 2]

        found = middle(tails, True) / middle(tails, False)
        expect(found <= 1.2,
               f"pages beside the lab: median {middle(middles, True):.2f} ms, 99 % {middle(tails, True):.2f} ms and {middle(costs, True):.0f} µs of the "
               f"server's processor time; with the lab stopped {middle(middles, False):.2f} ms, {middle(tails, False):.2f} ms and "
               f"{middle(costs, False):.0f} µs: {found:.2f} times; {pages} pages, the lab had {100 * sum(took[True]) / len(took[True]):.0f} % of a "
               f"processor in its turns; load of the machine {os.getloadavg()[0]:.1f}")


def processor_seconds(process):
    """What a process has taken."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--sessions", type=int, default=20_000, help="of a day")
    parser.add_argument("--days", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=100, help="of the servers' lab")
    parser.add_argument("--only", choices=["reads"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if options.only == "reads":
            check_reads(options.program, folder)
            sys.exit(1 if failures else 0)
        print(f"seed {options.seed}", flush=True)
        library, problem = faults.build(folder)
        if library is None:
            print(f"skipped: {problem}")
            sys.exit(2)
        numbers = random.Random(options.seed)
        with Fleet(options.program, folder, library, options.sessions, options.repeats, numbers) as fleet:
            try:
                world = check_days(fleet, folder, numbers, options.days)
                fleet.tune_no_more()
                check_history(fleet)
                check_by_hand(fleet, world)
                check_undo(fleet)
            except Exception:  # noqa: BLE001
                # Where only the lines are kept, they have to say it.
                expect(False, traceback.format_exc())
                for server in fleet.servers:
                    print(server.log.read_text()[-2000:], flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
