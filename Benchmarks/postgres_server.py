"""A PostgreSQL server of the benchmarks' own, and the servers that answer from it."""

import os
import pathlib
import shutil
import subprocess
import time

import install
from machine import SERVER_CORE
from peer_servers import PEERS, Go
from processes import MEGABYTE, Process
from servers import Lookahead

USER = "bench"


class Cluster:
    """A cluster in a folder of its own, on a socket there and on no port; use it with `with`.

    It waits for the disk as it does by default, and as SQLite does here: what is answered is durable.
    """

    def __init__(self, bench, cores):
        self.folder = bench.folder / "postgres"
        self.cores = cores
        self.process = None
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not programs:
            raise install.Missing("there is no PostgreSQL")
        self.programs = programs[-1].parent
        # It refuses to run as root.
        self.become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        if os.geteuid() != 0:
            self.become = []

    def __enter__(self):
        if not self.folder.exists():
            self.make()
        self.process = Process(
            [*self.become, self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder,
             "-c", "listen_addresses=", "-c", "max_wal_size=4GB"], self.cores)
        end = time.monotonic() + 60
        while not self.answers():
            if not self.process.is_running or time.monotonic() > end:
                self.process.kill()
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        # SIGTERM waits for clients, of which some may be left where a row broke off.
        self.process.process.send_signal(2)
        self.process.stop()

    def make(self):
        self.folder.mkdir(mode=0o755)
        # The server's user has to get there.
        self.folder.parent.chmod(0o755)
        if self.become:
            shutil.chown(self.folder, "postgres", "postgres")
        run = subprocess.run(
            [*self.become, self.programs / "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust",
             "-E", "UTF8", "--no-locale"], capture_output=True, text=True, cwd="/")
        if run.returncode != 0:
            raise RuntimeError(f"initdb: {run.stderr[-1000:]}")

    def answers(self):
        return subprocess.run(
            [self.programs / "pg_isready", "-q", "-h", self.folder, "-U", USER]).returncode == 0

    def say(self, sql, database="postgres"):
        """What a statement answers, as text."""
        done = subprocess.run(
            [self.programs / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder,
             "-U", USER, "-d", database, "-c", sql], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{sql}: {done.stderr[-1000:]}")
        return done.stdout.strip()

    def fresh(self, database):
        """The address of a new database of this name."""
        self.say(f"DROP DATABASE IF EXISTS {database}")
        self.say(f"CREATE DATABASE {database}")
        return self.address(database)

    def address(self, database):
        return f"postgres:///{database}?host={self.folder}&user={USER}"

    def megabytes(self, database):
        return int(self.say(f"SELECT pg_database_size('{database}')")) / MEGABYTE

    def cpu_seconds(self):
        return self.process.cpu_seconds()


class OnPostgres:
    """A server whose CPU time is that of PostgreSQL, too: both have the server's core. Its memory is its own."""

    def __init__(self, bench, cluster, database, *options, **more):
        super().__init__(bench, cluster.address(database), *options, **more)
        self.cluster = cluster

    def cpu_seconds(self):
        return super().cpu_seconds() + self.cluster.cpu_seconds()


class LookaheadOnPostgres(OnPostgres, Lookahead):
    """The program under test, on PostgreSQL."""


class GoOnPostgres(OnPostgres, Go):
    """net/http, jackc/pgx and encoding/json."""

    name = "Go, pgx"

    def command(self):
        return [self.bench.built / "go-peer-postgres", self.database, self.port, PEERS / "posts.sql"]


def on_server_core(bench):
    """The cluster on the core that servers have."""
    return Cluster(bench, SERVER_CORE)
