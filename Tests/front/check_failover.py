#!/usr/bin/env python3
"""A fleet whose primaries are killed: three PostgreSQL nodes under Patroni with etcd, three servers, Varnish.

    check_failover.py PROGRAM [--kills 20] [--seed N]

All of it are processes on the loopback with their files in a folder of their own. Prints a line for each kill and for
what was found at the end. Exit status 0 where no answered write is lost, no read failed, and writes go on after
each kill; 1 where not, 2 where something is missing that it needs.
"""

import argparse
import asyncio
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from fleet import Server, Varnish, wait_until  # first: it finds the modules of Tests/load

import failover
import layout
import patroni
from checks import Checks, Skipped, require

SERVERS = 3
STANDBY_OPTION = "--standby-database"


class DatabaseServer(Server):
    """One of the servers of a PostgreSQL."""

    def __init__(self, program, folder, number, address, *options):
        super().__init__(program, pathlib.Path(folder), number, *options)
        self.database = address


def options_of(program):
    return subprocess.run([program, "serve", "--help"], capture_output=True, text=True).stdout


class Fleet:
    """Servers of a cluster, which read its standbys, and Varnish; use it with `with`."""

    def __init__(self, program, folder, cluster, *options):
        if STANDBY_OPTION not in options:
            options = (*options, STANDBY_OPTION, cluster.address(connect_timeout=2))
        self.folder = pathlib.Path(folder)
        address = cluster.address(target_session_attrs="read-write", connect_timeout=2)
        self.servers = [
            DatabaseServer(program, folder, number, address, *options) for number in range(1, SERVERS + 1)]
        self.varnish = Varnish(folder, [server.port for server in self.servers])

    def __enter__(self):
        try:
            for server in self.servers:
                server.options += ["--purge-url", f"http://127.0.0.1:{self.varnish.port}/"]
                server.start()
            self.varnish.__enter__()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            if server.is_running():
                server.kill()
        if self.varnish.process and self.varnish.process.poll() is None:
            self.varnish.__exit__()


async def kill_primaries(cluster, fleet, kills, seed):
    """Kills the primary again and again; the longest time without a write after each."""
    traffic = failover.Traffic([fleet.varnish.port], seed)
    ledger, pauses = traffic.ledger, []
    await traffic.begin()
    await asyncio.sleep(2)
    for number in range(1, kills + 1):
        victim = await asyncio.to_thread(cluster.wait_for_primary, 60)
        killed = time.monotonic()
        await asyncio.to_thread(victim.kill)
        while (first := ledger.first_after(killed + 0.5)) is None:
            traffic.check()
            require(time.monotonic() < killed + 90, f"no write for 90 s after kill {number}{cluster.said()}")
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        pauses.append(ledger.longest_pause(killed, max(first, killed + 1)))
        print(f"        kill {number}: {victim.name}, {pauses[-1]:.1f} s without a write", flush=True)
        victim.start()
        back = await asyncio.to_thread(
            wait_until, lambda: cluster.synchronous() and victim.state().get("state") == "running", 90, 0.2)
        require(back, f"{victim.name} does not come back{cluster.said()}")
        traffic.check()
    await asyncio.sleep(2)
    await traffic.end()
    return ledger, pauses


def check_kills(checks, cluster, fleet, kills, seed):
    ledger, pauses = None, []

    def run():
        nonlocal ledger, pauses
        ledger, pauses = asyncio.run(kill_primaries(cluster, fleet, kills, seed))
        return (f"without writes p50 {sorted(pauses)[len(pauses) // 2]:.1f} s, most {max(pauses):.1f} s; "
                f"{len(ledger.times)} writes answered, {ledger.refused} refused and {ledger.unknown} "
                f"without an answer, all of them answered when tried again")

    def no_write_lost():
        require(ledger is not None, "nothing was written")
        for server in fleet.servers:
            missing = asyncio.run(failover.lost(server.port, ledger))
            require(not missing, f"{len(missing)} lost: {missing[:3]}")
        return f"{len(ledger.items)} items and {sum(ledger.increments)} increments are at every server, none twice"

    def reads_go_on():
        require(ledger is not None, "nothing was read")
        require(not ledger.failures, f"{len(ledger.failures)} of {ledger.reads}: {ledger.failures[:3]}")
        return (f"{ledger.reads} reads, none of a page that had been asked for before failed; {len(ledger.unready)} of "
                f"pages that nobody had asked for came while there was no primary, and were 503")

    def told_when_to_come_again():
        require(ledger is not None and ledger.without_retry_after == 0,
                f"{ledger and ledger.without_retry_after} refusals without Retry-After")

    checks.run(f"{kills} primaries are killed under load (seed {seed})", run)
    checks.run("no answered write is lost", no_write_lost)
    checks.run("reads do not stop", reads_go_on)
    checks.run("who is refused is told when to come again", told_when_to_come_again)


def check_lag(checks, program, folder, cluster):
    """A standby that applies what it has 5 s later; servers read from it alone."""
    def run():
        primary = cluster.wait_for_primary(60)
        lagging = next(node for node in cluster.nodes if node is not primary and node.name != cluster.synchronous())
        lagging.stop()
        lagging.parameters["recovery_min_apply_delay"] = "5s"
        lagging.tags = {"nofailover": True, "nosync": True}
        lagging.start()
        running = wait_until(lambda: lagging.state().get("state") == "running", 60, 0.2)
        require(running, f"it does not come back{cluster.said()}")
        standby = f"postgresql://postgres@127.0.0.1:{lagging.port}/lookahead"
        inner = pathlib.Path(folder) / "lag"
        inner.mkdir()
        with Fleet(program, inner, cluster, STANDBY_OPTION, standby) as fleet:
            ports = [server.port for server in fleet.servers]
            return asyncio.run(failover.answered_is_seen(ports[0], ports, 15))

    checks.run("a standby that is 5 s behind", run)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    checks = Checks()
    checks.run("docker/compose.fleet.yaml and Varnish name the same", layout.names_agree)
    with tempfile.TemporaryDirectory(prefix="lookahead-layout-") as folder:
        checks.run("its primary and standby", layout.fails_over, pathlib.Path(folder))
    with tempfile.TemporaryDirectory(prefix="lookahead-failover-") as folder:
        try:
            if "postgres" not in options_of(arguments.program):
                raise Skipped("this program knows no PostgreSQL")
            with patroni.Cluster(folder) as cluster:
                cluster.query(cluster.wait_for_primary(60), "CREATE DATABASE lookahead")
                with Fleet(arguments.program, folder, cluster) as fleet:
                    check_kills(checks, cluster, fleet, arguments.kills, arguments.seed)
                check_lag(checks, arguments.program, folder, cluster)
        except Skipped as reason:
            print(f"skipped: {reason}")
            return checks.status() or 2
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
