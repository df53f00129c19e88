"""PostgreSQL nodes under Patroni with etcd, as processes on the loopback in a folder of their own."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time
import urllib.request

from checks import Skipped
from fleet import free_port, wait_until

USER = "postgres"
# How long a leader that is gone is believed to be there, in seconds.
TTL_SECONDS = 5


def programs(needed=("etcd", "patroni")):
    """Where PostgreSQL's programs are; skipped where something is missing, or one of what is needed beside it."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    missing = [name for name in needed if not shutil.which(name)]
    if not found or missing:
        raise Skipped(f"there is no {' and no '.join(missing or ['PostgreSQL'])}")
    return found[-1].parent


def account():
    """PostgreSQL does not run as root: as whom it runs."""
    return pwd.getpwnam(USER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name)


class Process:
    """A program with its log, as PostgreSQL's account, at the head of a group of its own."""

    def __init__(self, folder, name, *command):
        user = account()
        self.log = folder / f"{name}.log"
        switch = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                start_new_session=True, env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C"}, **switch)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10)


class Node:
    """One PostgreSQL with its Patroni."""

    def __init__(self, cluster, number):
        self.cluster = cluster
        self.name = f"node{number}"
        self.folder = cluster.folder / self.name
        self.port, self.rest = free_port(), free_port()
        self.patroni = None
        # Of this node alone.
        self.parameters, self.tags = {}, {}

    @property
    def data(self):
        return self.folder / "data"

    def configuration(self):
        here = f"127.0.0.1:{self.port}"
        return {
            "scope": "lookahead", "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "etcd3": {"hosts": f"127.0.0.1:{self.cluster.etcd_port}"},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL_SECONDS, "loop_wait": 1, "retry_timeout": 2, "master_start_timeout": 0,
                    "synchronous_mode": True, "maximum_lag_on_failover": 1 << 20,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "synchronous_commit": "on", "wal_log_hints": "on", "max_connections": 100,
                        "shared_buffers": "32MB", "wal_keep_size": "256MB", "hot_standby_feedback": "on",
                        "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s"}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]},
            "postgresql": {
                "listen": here, "connect_address": here, "data_dir": str(self.data),
                "bin_dir": str(self.cluster.programs), "pgpass": str(self.folder / "pgpass"),
                "authentication": {name: {"username": user, "password": "of-the-check"} for name, user in [
                    ("superuser", "postgres"), ("replication", "replication"), ("rewind", "rewind")]},
                "parameters": {"unix_socket_directories": str(self.folder), **self.parameters},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"]},
            "tags": self.tags,
        }

    def start(self):
        self.folder.mkdir(exist_ok=True)
        # JSON is YAML.
        (self.folder / "patroni.yml").write_text(json.dumps(self.configuration(), indent=1))
        self.cluster.give(self.folder)
        self.patroni = Process(self.folder, "patroni", shutil.which("patroni"), self.folder / "patroni.yml")

    def state(self):
        """What its Patroni says of it: role, state, timeline; nothing while it says nothing."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/patroni", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return {}

    def is_primary(self):
        return self.state().get("role") in ("master", "primary") and self.state().get("state") == "running"

    def is_synchronous(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/synchronous", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def postmaster(self):
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, IndexError, ValueError):
            return None

    def kill(self):
        """As if the machine were gone: both at once, without a word."""
        number = self.postmaster()
        self.patroni.process.kill()
        if number:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.patroni.process.wait(timeout=10)

    def stop(self):
        number = self.postmaster()
        if self.patroni:
            self.patroni.end()
        # Patroni stops PostgreSQL; where it could not, this does.
        if number and pathlib.Path(f"/proc/{number}").exists() and self.postmaster() == number:
            os.kill(number, signal.SIGQUIT)


class Cluster:
    """This many nodes and one etcd; use it with `with`."""

    def __init__(self, folder, count=3):
        self.programs = programs()
        self.folder = pathlib.Path(folder) / "cluster"
        self.etcd_port, self.peer_port = free_port(), free_port()
        self.etcd = None
        self.nodes = [Node(self, number) for number in range(1, count + 1)]

    def give(self, folder):
        """The folder and what is in it to PostgreSQL's account."""
        user = account()
        for path in [folder, *folder.iterdir()]:
            if not path.is_dir() or path == folder:
                shutil.chown(path, user.pw_uid, user.pw_gid)

    def __enter__(self):
        self.folder.mkdir()
        pathlib.Path(self.folder.parent).chmod(0o755)
        self.give(self.folder)
        urls = [f"http://127.0.0.1:{port}" for port in (self.etcd_port, self.peer_port)]
        self.etcd = Process(
            self.folder, "etcd", shutil.which("etcd"), "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
            "--listen-client-urls", urls[0], "--advertise-client-urls", urls[0], "--listen-peer-urls", urls[1],
            "--initial-advertise-peer-urls", urls[1], "--initial-cluster", f"default={urls[1]}", "--log-level", "error")
        try:
            for node in self.nodes:
                node.start()
            if not wait_until(lambda: self.synchronous() is not None, 90, 0.2):
                raise RuntimeError(f"the nodes do not come together: {self.said()}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()
        if self.etcd:
            self.etcd.end()

    def said(self):
        return "".join(f"\n{node.name}: {node.state()} {node.patroni.log.read_text()[-1500:]}"
                       for node in self.nodes if node.patroni)

    def primary(self):
        return next((node for node in self.nodes if node.is_primary()), None)

    def synchronous(self):
        """The name of the standby that every commit waits for and that Patroni has written down as the one to take
        over; nothing while there is none. What PostgreSQL says of itself comes before that is written."""
        if self.primary() is None:
            return None
        return next((node.name for node in self.nodes if node.is_synchronous()), None)

    def query(self, node, text, database="postgres"):
        """What PostgreSQL answers, as psql writes it."""
        done = subprocess.run(
            [self.programs / "psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", str(node.port), "-U", "postgres",
             "-d", database, "-c", text], capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def address(self, database="lookahead", **parameters):
        """The connection string of all nodes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        return f"postgresql://postgres@{hosts}/{database}" + (f"?{query}" if query else "")

    def wait_for_primary(self, within_seconds):
        end = time.monotonic() + within_seconds
        while (node := self.primary()) is None:
            if time.monotonic() > end:
                raise RuntimeError(f"there is no primary: {self.said()}")
            time.sleep(0.05)
        return node
