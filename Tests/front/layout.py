"""What docker/compose.fleet.yaml has its PostgreSQL do, with the same scripts, as processes on the loopback."""

import os
import re
import shutil
import signal
import subprocess
import time

import patroni
from checks import require
from fleet import ROOT, free_port, wait_until

FLEET = ROOT / "docker" / "fleet"
SECRETS = {"LOOKAHEAD_PASSWORD": "of-the-check'1", "REPLICATION_PASSWORD": "of the check'2"}


def names_agree():
    """The compose file, Varnish's list of servers and its network name the same."""
    compose = (ROOT / "docker" / "compose.fleet.yaml").read_text()
    servers = (ROOT / "docker" / "varnish" / "servers.vcl").read_text()
    services = set(re.findall(r"^  (\w+):", compose.split("\nservices:\n")[1].split("\nnetworks:\n")[0], re.M))
    hosts = set(re.findall(r'^backend \w+ \{ \.host = "(\w+)"', servers, re.M))
    require(hosts and hosts <= services, f"Varnish asks {hosts - services}, which are no services")
    subnet = re.search(r"- subnet: ([\d./]+)", compose)[1]
    require(f'"{subnet.replace("/", chr(34) + "/")};' in servers, f"servers.vcl does not have the network {subnet}")
    require(compose.count(subnet) == 2, f"the servers do not trust {subnet}")
    for path in re.findall(r"^ +- (\./[\w./]+):", compose, re.M):
        require((ROOT / "docker" / path).exists(), f"there is no {path}")


class Layout:
    """A primary and a standby as the compose file starts them; use it with `with`."""

    def __init__(self, folder):
        self.programs = patroni.programs()
        self.folder = folder / "layout"
        self.primary_port, self.standby_port = free_port(), free_port()
        self.processes = []

    def __enter__(self):
        self.folder.mkdir()
        self.folder.parent.chmod(0o755)
        user = patroni.account()
        for name in ("primary", "standby"):
            shutil.copy(FLEET / name, self.folder / name)
        shutil.chown(self.folder, user.pw_uid, user.pw_gid)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.process.poll() is None:
                process.end(signal.SIGINT)

    def run(self, *command, port, folder="primary-data"):
        user = patroni.account()
        switch = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [str(part) for part in command], cwd=self.folder, capture_output=True, text=True, timeout=60, **switch,
            env={"PATH": f"{self.programs}:{os.environ['PATH']}", "PGHOST": str(self.folder), "PGPORT": str(port),
                 "PGDATA": str(self.folder / folder), "PGUSER": "postgres", **SECRETS})
        require(done.returncode == 0, f"{command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done.stdout.strip()

    def start(self, name, port, *command):
        process = patroni.Process(
            self.folder, name, "env", f"PATH={self.programs}:{os.environ['PATH']}", f"PGPORT={port}",
            f"PGDATA={self.folder / name}-data", "PRIMARY=127.0.0.1",
            *(f"{key}={value}" for key, value in SECRETS.items()), *command)
        self.processes.append(process)
        return process

    def as_lookahead(self, text):
        """As a server asks: by the connection string of both, for the one that takes writes."""
        address = (f"host=127.0.0.1,127.0.0.1 port={self.primary_port},{self.standby_port} dbname=lookahead "
                   f"user=lookahead target_session_attrs=read-write")
        password = SECRETS["LOOKAHEAD_PASSWORD"]
        return self.run("env", f"PGPASSWORD={password}", "psql", "-XAtq", address, "-c", text, port=self.primary_port)


def fails_over(folder):
    """The primary as the image makes it, the standby as its script makes it: in step, and promoted."""
    with Layout(folder) as layout:
        port = layout.primary_port
        layout.run("initdb", "--encoding=UTF8", "--locale=C", "--data-checksums", "--username=postgres", port=port)
        # As the image has it, for everybody who has a password.
        with open(layout.folder / "primary-data" / "pg_hba.conf", "a", encoding="utf-8") as rules:
            rules.write("host all all 127.0.0.1/32 scram-sha-256\n")
        rules = (layout.folder / "primary-data" / "pg_hba.conf").read_text()
        # initdb trusts whoever comes over TCP, too; the image does not.
        (layout.folder / "primary-data" / "pg_hba.conf").write_text(
            re.sub(r"^host .*trust$", "", rules, flags=re.M))
        layout.start("primary", port, "postgres", "-k", layout.folder, "-c", "synchronous_standby_names=standby")
        require(wait_until(lambda: answers(layout, port), 20), "the primary does not start")
        layout.run(layout.folder / "primary", port=port)
        layout.run("psql", "-Atc", "SELECT pg_reload_conf()", port=port)
        script = (layout.folder / "standby").read_text()
        own = f"exec postgres -k {layout.folder} -p {layout.standby_port}"
        require("exec postgres" in script, "docker/fleet/standby does not end in PostgreSQL")
        (layout.folder / "standby").write_text(script.replace("exec postgres", own))
        layout.start("standby", port, "sh", layout.folder / "standby")
        state = "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'"
        require(wait_until(lambda: layout.run("psql", "-Atc", state, port=port) == "sync", 30), "no standby in step")
        layout.as_lookahead("CREATE TABLE written (number int); INSERT INTO written VALUES (1)")
        layout.processes[0].end(signal.SIGQUIT)
        layout.run("pg_ctl", "promote", port=layout.standby_port, folder="standby-data")
        start = time.monotonic()
        layout.as_lookahead("INSERT INTO written VALUES (2)")
        require(layout.as_lookahead("SELECT count(*) FROM written") == "2", "what was written is not there")
        return f"a write {time.monotonic() - start:.1f} s after the promotion"


def answers(layout, port):
    done = subprocess.run([layout.programs / "pg_isready", "-q", "-h", layout.folder, "-p", str(port)])
    return done.returncode == 0
