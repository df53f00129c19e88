"""The closed loop of experiments and tuning, end to end: check_tuning.py PROGRAM [--seed N] [--sessions N].

Prints a line for each check with its figures; status 1 where one does not hold.
"""

import argparse
import csv
import io
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / name) for name in ("load", "faults")] + [str(HERE)]

import faults  # noqa: E402
from check_reports import Poster, expect, failures, is_written  # noqa: E402
from running import FIXTURES, RunningServer, TOKEN, environment, wait_until  # noqa: E402

BAD = "plain:leading=1"
PRICES = (100, 1000, 10_000)
ITEMS = 50
NETWORK = "3g"
# The world of the other days: a slower network.
LATER = {"name": "edge", "downlink": 240, "rtt": 840}
LATER_DAY = 10
# What the servers' lab runs by.
LAB = [f"LOOKAHEAD_ITEMS={ITEMS}", "LOOKAHEAD_REPEATS=30", "LOOKAHEAD_PRICE=" + ",".join(map(str, PRICES))]


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


class World:
    """Sessions as the lab has them, for each policy: loaders and kilobytes of fifty items."""

    def __init__(self, server, numbers, network=NETWORK, report=None):
        self.random = numbers
        self.pools = {}
        self.network = network
        self.report = report or {"downlink": 780, "rtt": 200}
        texts = [BAD, "endless"] + [f"expected-wait:price={price}" for price in PRICES]
        table = server.command(
            "lab", "run", "--feed", "featured", "--network", network, "--items", str(ITEMS), "--repeats", "100",
            "--seed", str(numbers.randrange(1 << 20)), "--format", "csv", *[word for text in texts for word in ("--strategy", text)])
        for row in csv.DictReader(io.StringIO(table)):
            self.pools.setdefault(row["strategy"], []).append(
                (round(float(row["loaders"]) * ITEMS / 1000), round(float(row["kilobytes"]) * ITEMS * 1000)))

    def loaders(self, policy):
        pool = self.pools[policy]
        return 1000 * sum(loaders for loaders, _ in pool) / len(pool) / ITEMS

    def size(self, policy):
        return sum(size for _, size in self.pools[policy]) / len(self.pools[policy])

    def best(self, beside):
        """The fewest loaders of all that the tuner may try, at the bytes of the policy in force."""
        return min(self.loaders(one) for one in self.pools if one.startswith("expected") and self.size(one) <= 1.2 * self.size(beside))

    def session(self, policy):
        return self.random.choice(self.pools[policy])


class Fleet:
    """Two servers of one database, one of which is killed now and then; hours pass when they are told to."""

    def __init__(self, program, folder, library, sessions, numbers):
        self.faults = faults.Faults(library, folder / "faults")
        self.servers = []
        for _ in range(2):
            # The night begins three hours from now, and again each day of the clock that is moved.
            server = RunningServer(program, folder, "--experiment-seconds", "1", "--reports-per-minute", "0",
                                   "--report-flush-milliseconds", "50", "--no-access-log", "--log-level", "notice",
                                   "--tune", "auto", "--tune-hour", str((int(time.time()) // 3600 + 3) % 24), "--tune-sessions", "50")
            server.before = ["env", *LAB, *self.faults.before]
            server.log = folder / f"server-{len(self.servers)}.log"
            self.servers.append(server)
        self.program, self.random, self.sessions = program, numbers, sessions
        self.hours = self.number = 0
        self.never_draws = False

    def __enter__(self):
        self.servers[0].command("seed", "--fixtures", str(FIXTURES))
        database = sqlite3.connect(self.servers[0].database)
        database.execute("UPDATE policy SET name = ?, strategy = 'plain', parameters = '{\"leading\":1}' WHERE feed = 'featured'",
                         (BAD,))
        database.commit()
        database.close()
        for server in self.servers:
            server.start()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()

    @property
    def server(self):
        return self.servers[0]

    def command(self, *arguments):
        """A command on the servers' clock."""
        done = subprocess.run(
            [*self.faults.before, self.program, *arguments], capture_output=True, text=True, timeout=300,
            env=environment(LOOKAHEAD_DATABASE=str(self.server.database)))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def page(self, network):
        return json.loads(self.server.get(f"/rp/?feed=featured&network={network}&limit=1")[2])["prefetch"]

    def experiments(self):
        return json.loads(self.server.get("/v1/experiments")[2])["experiments"]

    def policies(self, name=NETWORK):
        """Those of both arms."""
        networks = json.loads(self.server.get("/v1/networks?feed=featured")[2])["networks"]
        network = next(network for network in networks if network["name"] == name)
        return network["policy"]["name"], network.get("experiment", {}).get("policy", {}).get("name")

    def hour(self, world):
        """An hour of sessions; the servers look at what came of it in the next one."""
        experiment = self.page(world.network).get("experiment")
        ours, tried = self.policies(world.network)
        poster = Poster(self.server.port)
        for _ in range(self.sessions // 24):
            self.number += 1
            arm = arm_of(experiment, self.random.randrange(1 << 32)) if experiment else "a"
            if self.never_draws:
                arm = "b"
            policy = tried if arm == "b" else ours
            loaders, size = world.session(policy)
            status = poster.post({
                "session": f"session-of-the-tuning-{self.number}", "part": 0, "feed": "featured", "policy": policy[:100],
                "arm": f"{experiment['id']}.{arm}" if experiment else "", "network": world.report,
                "items": ITEMS, "until": 60_000, "loaders": {"video": loaders}, "bytes": {"seen": size},
            })
            assert status == 202, status
        wait_until(lambda: is_written(self.server), 20)
        self.hours += 1
        self.faults.move_clock(3600 * self.hours)
        time.sleep(2.2)
        if self.random.random() < 0.1:
            # Whoever decides: the other one goes on.
            killed = self.random.choice(self.servers)
            killed.kill()
            killed.start()

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
            server.options[server.options.index("auto")] = "off"
            server.start()
        for one in self.experiments():
            if one["running"] and one["kind"] == "trial":
                self.command("experiment", "stop", str(one["id"]))

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


def steps(experiment):
    return [step["kind"] for step in experiment["steps"]]


def trials(fleet):
    return [one for one in reversed(fleet.experiments()) if one["kind"] == "trial" and "started" in steps(one)]


def check_history(fleet):
    """Whoever was killed when: no two experiments at once on the same sessions, and none that is half there."""
    database = sqlite3.connect(fleet.server.database)
    half = database.execute("SELECT count(*) FROM experiment WHERE experiment_id NOT IN (SELECT experiment_id FROM experiment_step)")
    expect(half.fetchone()[0] == 0, "no experiment is without a step")
    spans = sorted((one["steps"][0]["at"], "9" if one["running"] else one["steps"][-1]["at"], one["network"] if "network" in one else None)
                   for one in trials(fleet))
    both = [(a, b) for index, a in enumerate(spans) for b in spans[index + 1:]
            if b[0] < a[1] and (a[2] is None or b[2] is None or a[2] == b[2])]
    expect(not both, f"no two of {len(spans)} experiments on the same sessions ran at once {both or ''}")
    applied = database.execute("SELECT evidence FROM experiment_step WHERE kind = 'applied'").fetchall()
    expect(all(json.loads(row[0]).get("finding") for row in applied), f"each of {len(applied)} policies that were applied has its evidence")
    database.close()


def check_later(fleet, numbers, begun):
    """The world changes on a day: another network, on which the policy in force may not be the best."""
    fleet.hours = max(fleet.hours, 24 * LATER_DAY)
    fleet.faults.move_clock(3600 * fleet.hours)
    world = World(fleet.server, numbers, LATER["name"], {"downlink": LATER["downlink"], "rtt": LATER["rtt"]})
    before = fleet.policies(LATER["name"])[0]
    best = world.best(before)
    known = len(trials(fleet))
    since = fleet.hours
    looked = fleet.until(world, 48, lambda: len(begun()) > known or any(
        step["kind"] == "kept" for one in fleet.experiments() for step in one["steps"][:1] if one["id"] > known))
    expect(looked, f"on day {LATER_DAY} sessions come over {LATER['name']}: looked at again after {looked} hours")
    if len(trials(fleet)) > known:
        fleet.until(world, 96, lambda: not trials(fleet)[-1]["running"])
        last = trials(fleet)[-1]
        print(f"     {last['policy']['name']}: {', '.join(steps(last))}: {last['steps'][-1]['evidence'].get('reason')}", flush=True)
    name = fleet.policies(LATER["name"])[0]
    expect(world.loaders(name) <= max(1.05 * best + 10, world.loaders(before)),
           f"{fleet.hours - since} hours later {name} is in force there: {world.loaders(name):.0f} loaders of 1000, the best {best:.0f}, "
           f"before {before} {world.loaders(before):.0f}")


def check(program, library, folder, sessions, numbers):
    with Fleet(program, folder, library, sessions, numbers) as fleet:
        world = World(fleet.server, numbers)
        best = world.best(BAD)
        most, killed = 0, 0

        def begun():
            nonlocal most, killed
            # While it runs hours wait: of a night no more passes than the lab takes.
            for _ in range(600):
                tuners = fleet.tuners()
                most = max(most, len(tuners))
                if not tuners:
                    break
                if not killed:
                    killed = 1
                    tuners[0].kill()
                    expect(wait_until(lambda: not fleet.tuners(), 10), "whose server is killed looks no more")
                    tuners[0].start()
                    expect(not trials(fleet), "and has written nothing")
                time.sleep(0.2)
            return trials(fleet)

        took = fleet.until(world, 60, begun)
        expect(took, f"the servers' lab begins an experiment after {took} hours")
        expect(most <= 1 and killed, f"of two servers {most} looks for a policy at a time, and the other one goes on where it is killed")
        if not took:
            return
        took = fleet.until(world, 72, lambda: not trials(fleet)[0]["running"])
        first = trials(fleet)[0]
        expect(steps(first) == ["started", "ramped", "ramped", "ramped", "applied"],
               f"the better policy is applied after {took} hours of {sessions // 24} sessions: {', '.join(steps(first))}")
        name, _ = fleet.policies()
        expect(name in world.pools and world.loaders(name) <= 1.05 * best + 10,
               f"{name} is in force: {world.loaders(name):.0f} loaders of 1000, the best {best:.0f}, {BAD} {world.loaders(BAD):.0f}")

        check_later(fleet, numbers, begun)
        fleet.tune_no_more()
        name, _ = fleet.policies()
        check_history(fleet)
        status, _, body = fleet.server.ask(
            "POST", "/v1/experiments", {"feed": "featured", "network": NETWORK, "against": "endless"}, token=TOKEN)
        number = json.loads(body)["id"]
        took = fleet.until(world, 24, lambda: not fleet.experiments()[0]["running"])
        bad = fleet.experiments()[0]
        met = sum((bad["steps"][-1]["evidence"].get("finding") or {}).get("sessions", [0, 0])[1:])
        expect(status == 201 and bad["id"] == number and steps(bad)[-1] == "rolledBack",
               f"a bad policy is rolled back after {took} hours and {met} sessions: {bad['steps'][-1]['evidence']['reason']}")
        expect(fleet.policies()[0] == name, "what was in force stays in force")

        fleet.server.ask("POST", "/v1/experiments",
                         {"feed": "featured", "network": NETWORK, "against": BAD}, token=TOKEN)
        fleet.never_draws = True
        took = fleet.until(world, 24, lambda: not fleet.experiments()[0]["running"])
        stopped = fleet.experiments()[0]
        expect(steps(stopped)[-1] == "stopped",
               f"clients that do not draw end it after {took} hours: {stopped['steps'][-1]['evidence']['reason']}")

        history = sqlite3.connect(fleet.server.database)
        for statement in ("UPDATE experiment_step SET kind = 'ended'", "DELETE FROM experiment_step"):
            try:
                history.execute(statement)
                refused = False
            except sqlite3.IntegrityError:
                refused = True
            expect(refused, f"{statement}: refused")
        history.close()
        applied = [one for one in fleet.experiments() if steps(one)[-1] == "applied"]
        for one in applied:
            said = fleet.command("experiment", "undo", str(one["id"]))
        expect(fleet.policies()[0] == BAD, f"{said}: {BAD} is in force again")
        expect("is sound" in fleet.command("check"), "check finds nothing")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--sessions", type=int, default=4_800, help="of a day")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        library, problem = faults.build(folder)
        if library is None:
            print(f"skipped: {problem}")
            sys.exit(2)
        check(options.program, library, pathlib.Path(folder), options.sessions, random.Random(options.seed))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
