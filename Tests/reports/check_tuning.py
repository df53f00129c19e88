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

    def __init__(self, server, numbers):
        self.random = numbers
        self.pools = {}
        texts = [BAD, "endless"] + [f"expected-wait:price={price}" for price in PRICES]
        table = server.command(
            "lab", "run", "--feed", "featured", "--network", NETWORK, "--items", str(ITEMS), "--repeats", "100",
            "--seed", str(numbers.randrange(1 << 20)), "--format", "csv", *[word for text in texts for word in ("--strategy", text)])
        for row in csv.DictReader(io.StringIO(table)):
            self.pools.setdefault(row["strategy"], []).append(
                (round(float(row["loaders"]) * ITEMS / 1000), round(float(row["kilobytes"]) * ITEMS * 1000)))

    def loaders(self, policy):
        pool = self.pools[policy]
        return 1000 * sum(loaders for loaders, _ in pool) / len(pool) / ITEMS

    def session(self, policy):
        return self.random.choice(self.pools[policy])


class Fleet:
    """Two servers of one database, one of which is killed now and then; hours pass when they are told to."""

    def __init__(self, program, folder, library, sessions, numbers):
        self.faults = faults.Faults(library, folder / "faults")
        self.servers = []
        for _ in range(2):
            server = RunningServer(program, folder, "--experiment-seconds", "1", "--reports-per-minute", "0",
                                   "--report-flush-milliseconds", "50", "--no-access-log", "--log-level", "warning")
            server.before = self.faults.before
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

    def page(self):
        return json.loads(self.server.get(f"/rp/?feed=featured&network={NETWORK}&limit=1")[2])["prefetch"]

    def experiments(self):
        return json.loads(self.server.get("/v1/experiments")[2])["experiments"]

    def policies(self):
        """Those of both arms."""
        networks = json.loads(self.server.get("/v1/networks?feed=featured")[2])["networks"]
        network = next(network for network in networks if network["name"] == NETWORK)
        return network["policy"]["name"], network.get("experiment", {}).get("policy", {}).get("name")

    def hour(self, world):
        """An hour of sessions; the servers look at what came of it in the next one."""
        experiment = self.page().get("experiment")
        ours, tried = self.policies()
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
                "arm": f"{experiment['id']}.{arm}" if experiment else "", "network": {"downlink": 780, "rtt": 200},
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


def steps(experiment):
    return [step["kind"] for step in experiment["steps"]]


def check(program, library, folder, sessions, numbers):
    with Fleet(program, folder, library, sessions, numbers) as fleet:
        world = World(fleet.server, numbers)
        best = min(world.loaders(f"expected-wait:price={price}") for price in PRICES)
        for _ in range(4):
            fleet.hour(world)
        said = fleet.command("tune", "--feed", "featured", "--network", NETWORK, "--begin", "--items", str(ITEMS), "--repeats",
                             "30", "--price", ",".join(map(str, PRICES)))
        expect("experiment 1 runs" in said, said.replace("\n", "; "))
        took = fleet.until(world, 72, lambda: not fleet.experiments()[-1]["running"])
        first = fleet.experiments()[-1]
        expect(steps(first) == ["started", "ramped", "ramped", "ramped", "applied"],
               f"the better policy is applied after {took} hours of {sessions // 24} sessions: {', '.join(steps(first))}")
        name, _ = fleet.policies()
        expect(name in world.pools and world.loaders(name) <= 1.05 * best + 10,
               f"{name} is in force: {world.loaders(name):.0f} loaders of 1000, the best {best:.0f}, {BAD} {world.loaders(BAD):.0f}")

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
        said = fleet.command("experiment", "undo", "1")
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
            return
        check(options.program, library, pathlib.Path(folder), options.sessions, random.Random(options.seed))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
