"""A Debian in a container, on which packages are installed."""

import subprocess
import time

from checks import require
from engine import NETWORK

IMAGE = "localhost/lookahead-package:test"


class Debian:
    """With systemd as process 1, or with nothing; use it with `with`."""

    def __init__(self, engine, *command):
        self.engine = engine
        self.command = command

    def __enter__(self):
        self.engine.podman(
            "run", "--detach", "--name", "debian", f"--network=ns:/run/netns/{NETWORK}", "--privileged",
            "--systemd=false" if self.command else "--systemd=always",
            "--volume=/etc/apt:/etc/apt:ro", IMAGE, *self.command)
        if not self.command:
            self.wait_for("systemctl is-system-running | grep -qx running", "systemd to start")
        return self

    def __exit__(self, *_):
        self.engine.podman("rm", "--force", "--time", "5", "debian")

    def shell(self, script, check=True, seconds=120):
        """Runs a line of shell as root; its output, and its status where that is not checked."""
        done = subprocess.run(
            ["podman", "exec", "--env=DEBIAN_FRONTEND=noninteractive", "debian", "sh", "-c", script],
            env=self.engine.environment, text=True, capture_output=True, timeout=seconds)
        if not check:
            return done.returncode, (done.stdout + done.stderr).strip()
        require(done.returncode == 0, f"{script}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def wait_for(self, script, what, seconds=20):
        end = time.monotonic() + seconds
        while self.shell(script, check=False)[0] != 0:
            require(time.monotonic() < end, f"waited for {what}: " + self.shell(
                "journalctl --no-pager --lines 20", check=False)[1])
            time.sleep(0.1)

    def get(self, path, port=8080):
        return self.engine.get(f"http://127.0.0.1:{port}{path}")

    def wait_until_ready(self, port=8080):
        end = time.monotonic() + 20
        address = f"http://127.0.0.1:{port}/readyz"
        while self.engine.inside("curl", "--silent", "--fail", address)[0] != 0:
            require(time.monotonic() < end, "it is not ready: " + self.shell(
                "journalctl --no-pager --unit lookahead --lines 20", check=False)[1])
            time.sleep(0.02)

    def processes(self):
        """The numbers of the processes of the program that live."""
        found = self.shell("find /proc/[0-9]*/exe -lname /usr/bin/lookahead 2>/dev/null || true").split()
        return [path.split("/")[2] for path in found]

    def install(self):
        self.shell("apt-get install --yes --no-install-recommends /package/*.deb")

    def files(self):
        """All that is called after the program or belongs to nobody any more, but the package manager's
        own."""
        return self.shell(
            "find / -xdev \\( -path /proc -o -path /sys -o -path /package"
            " -o -path /var/cache -o -path /var/lib/apt \\) -prune"
            " -o \\( -name '*lookahead*' -o -nouser \\) -print").split()
