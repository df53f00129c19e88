#!/usr/bin/env python3
"""Holds a server of its own under mixed work for a long time, ends it twice, and counts what is left.

    soak_server.py PROGRAM [SECONDS [SEED]]

First SECONDS (600 by default) of reads, writes, imports and clients that go away, then SIGTERM while
they go on; then three times a kill -9 under writes. Every answer is looked at, everything that was
answered has to be there at the end, and memory has to stay flat. Exit status 0 where all held.
"""

import json
import pathlib
import random
import statistics
import sys
import tempfile
import time

from check_load import media_folder
from checks import Checks, require
from running import RunningServer, wait_until
from soak import abusers, readers, writers
from soak.accounts import Accounts
from soak.client import Tally

MIXED = [
    readers.Walker, readers.Walker, readers.Jumper, readers.Revalidator, readers.Player,
    writers.Editor, writers.Editor, writers.Counter, writers.Counter, writers.Importer,
    abusers.Abuser, abusers.Abuser,
]
WRITING = [writers.Editor] * 4 + [writers.Counter] * 4
KILLS = 3
OPTIONS = ["--encoded-memory-bytes", "8388608", "--log-level", "notice"]


class Soak:
    def __init__(self, server, seed):
        self.server = server
        self.seed = seed
        self.clients = []
        self.accounts = Accounts(seed)

    def prepare(self):
        """Posts that stay, and one whose counters are counted."""
        records = readers.staying_records() + [{"id": writers.Counter.shared_item, "type": "text"}]
        source = self.server.database.parent / "soak.ndjson"
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.server.command("seed", str(source))
        # Another process wrote it: the server looks every 20 ms.
        visible = wait_until(lambda: self.server.get(f"/v1/feeds/{readers.FEED}")[0] == 200, 5)
        require(visible, "the server does not see what was seeded")

    def mixed(self, seconds):
        """All kinds of clients for so long, then SIGTERM while they go on."""
        tally = Tally(self.server, self.seed)
        self.clients = tally.start(MIXED)
        samples = []
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.server.process.poll() is None:
            samples.append(self.server.resident_bytes())
            time.sleep(1)
        require(self.server.process.poll() is None, "the server has ended: " + self.log_end())
        cpu = self.server.cpu_seconds()
        metrics = self.server.metrics()

        tally.ending.set()
        start = time.monotonic()
        status = self.server.terminate()
        drain = time.monotonic() - start
        self.stop(tally)
        self.report(tally, samples, seconds, cpu, metrics)
        lost = tally.events["lost at the end"]
        require(status == 0, f"SIGTERM: status {status}")
        require(lost == 0, f"SIGTERM: {lost} requests without an answer")
        require(not tally.problems, f"{tally.events['problems']} problems")
        require_flat(samples)
        return f"{sum(tally.answers.values())} answers; SIGTERM took {drain:.2f} s, nothing lost"

    def killed(self, seconds):
        """Clients that write, and a kill -9 in the middle of it."""
        tally = Tally(self.server, f"{self.seed}.{time.monotonic_ns()}")
        self.clients = tally.start(WRITING)
        time.sleep(seconds)
        tally.ending.set()
        self.server.kill()
        self.stop(tally)
        # Requests without an answer are what a kill is about.
        lost = tally.events["lost at the end"]
        require(tally.events["problems"] == lost, "\n".join(tally.problems))
        self.server.start()
        answers = sum(tally.answers.values())
        return f"after {answers} answers, {lost} requests in flight; {self.account()}"

    def stop(self, tally):
        tally.stopped.set()
        for client in self.clients:
            client.thread.join(timeout=70)
            require(not client.thread.is_alive(), f"{client.name} still waits for an answer")

    def account(self):
        return self.accounts.settle(self.server, self.clients)

    def check(self):
        return self.server.command("check").splitlines()[-1]

    def report(self, tally, samples, seconds, cpu, metrics):
        count = sum(tally.answers.values())
        print(f"  {count} answers in {seconds} s ({count / seconds:.0f} a second), "
              f"{cpu:.0f} s of the server's CPU time")
        print("  " + ", ".join(f"{count} × {what}" for what, count in sorted(tally.answers.items())))
        print("  " + ", ".join(f"{count} {what}" for what, count in sorted(tally.events.items())))
        print("  resident: " + ", ".join(
            f"{value / 1e6:.1f}" for value in quarters(samples)) + " MB (medians of the quarters), "
            f"{max(samples) / 1e6:.1f} MB at the most, {samples[0] / 1e6:.1f} MB at the start")
        names = ["lookahead_log_dropped_lines_total", "lookahead_sqlite_failed_refreshes_total",
                 'lookahead_sqlite_file_bytes{file="database"}',
                 'lookahead_sqlite_file_bytes{file="wal"}',
                 "process_open_fds", "process_threads"]
        print("  " + ", ".join(f"{name} {metrics[name]:.0f}" for name in names if name in metrics))
        for problem in tally.problems:
            print(f"  problem: {problem}")
        errors = [line for line in self.server.log.read_text(errors="replace").splitlines()
                  if '"level":"error"' in line or '"level":"critical"' in line or line[:1] != "{"]
        print(f"  {len(errors)} errors in the log, {self.server.log.stat().st_size} bytes of log")
        for line in errors[:10]:
            print(f"  log: {line[:300]}")
        sys.stdout.flush()

    def log_end(self):
        return self.server.log.read_text(errors="replace")[-2000:]


def quarters(samples):
    size = max(1, len(samples) // 4)
    return [statistics.median(samples[start:start + size])
            for start in range(0, size * 4, size) if samples[start:start + size]]


def require_flat(samples):
    """The last quarter may have a tenth and 8 MB more than the second: both were warm."""
    medians = quarters(samples)
    if len(samples) < 120:
        return
    text = ", ".join(f"{median / 1e6:.1f}" for median in medians)
    require(medians[3] <= medians[1] * 1.1 + 8e6, f"memory grows: {text} MB")


def main(program, seconds=600, seed=None):
    seed = seed or random.randrange(1 << 32)
    print(f"seed {seed}")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="lookahead-soak-") as folder:
        media = media_folder(folder)
        server = RunningServer(program, folder, *OPTIONS, media=media)
        server.media = pathlib.Path(media)
        with server:
            soak = Soak(server, seed)
            soak.prepare()
            checks.run(f"mixed work for {seconds} s, SIGTERM in the middle", soak.mixed, seconds)
            checks.run("check after SIGTERM", soak.check)
            if server.process.poll() is not None:
                server.start()
            checks.run("all that was answered is there", soak.account)
            for number in range(1, KILLS + 1):
                checks.run(f"kill -9 under writes, {number}", soak.killed, min(10, seconds))
            checks.run("ends once more", lambda: require(server.terminate() == 0, "status not 0"))
            checks.run("check after the kills", soak.check)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
