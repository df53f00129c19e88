"""A PostgreSQL of one's own, and a standby of it where one is wanted, on sockets in a folder of their own."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "front"))

import patroni  # noqa: E402
from running import wait_until  # noqa: E402

PRIMARY, STANDBY = 5432, 5433


class Pair:
    """Use it with `with`; raises `checks.Skipped` where there is no PostgreSQL."""

    def __init__(self, folder, has_standby=True):
        self.programs = patroni.programs(needed=())
        self.has_standby = has_standby
        self.folder = pathlib.Path(folder) / "postgres"
        self.processes = []

    def __enter__(self):
        user = patroni.account()
        self.folder.mkdir()
        # PostgreSQL's account has to come this far.
        self.folder.parent.chmod(0o755)
        shutil.chown(self.folder, user.pw_uid, user.pw_gid)
        try:
            self.run("initdb", "-D", "primary", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
            self.start("primary", PRIMARY)
            self.run("createdb", "-h", self.folder, "-U", "postgres", "lookahead")
            if self.has_standby:
                self.run("pg_basebackup", "-h", self.folder, "-U", "postgres", "-D", "standby", "-R", "-c", "fast", "-N")
                self.start("standby", STANDBY)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.end(signal.SIGINT)

    def address(self, port=PRIMARY):
        return f"postgresql:///lookahead?host={self.folder}&port={port}&user=postgres"

    def run(self, program, *arguments):
        user = patroni.account()
        switch = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [str(part) for part in (self.programs / program, *arguments)], cwd=self.folder, capture_output=True,
            text=True, timeout=60, **switch)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")

    def start(self, name, port):
        process = patroni.Process(
            self.folder, name, self.programs / "postgres", "-D", self.folder / name, "-k", self.folder, "-p", port,
            "-c", "listen_addresses=", "-c", "fsync=off")
        self.processes.append(process)
        ready = [self.programs / "pg_isready", "-q", "-h", self.folder, "-p", str(port), "-U", "postgres"]
        if not wait_until(lambda: subprocess.run(ready).returncode == 0, 30):
            raise RuntimeError(f"the {name} does not start: {process.log.read_text()[-1000:]}")
