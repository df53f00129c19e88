#!/usr/bin/env python3
"""Installs the Debian package of script/package on a clean Debian, with systemd and without, and removes
it again.

    PYTHONPATH=Tests/load check_package.py [FOLDER]

Prints a line for each thing looked at. Exit status 0 where all hold, 1 where one does not. FOLDER keeps the
base image for the next run; without it nothing stays.
"""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import images
import machine
from checks import Checks, Skipped, require
from engine import NETWORK, Engine
from running import wait_until

IMAGE = "localhost/lookahead-package:test"
DATABASE = "/var/lib/lookahead/lookahead.sqlite"
PAGE = "/rp/?feed=featured&limit=30"

# Debian with systemd, all that a package holds (the slim image leaves manuals out), and what this one
# wants, fetched but not installed: the container itself has no network but its own.
CLEAN = """\
FROM {debian}
RUN rm /etc/dpkg/dpkg.cfg.d/docker && apt-get update && apt-get install --yes --no-install-recommends systemd dbus man-db
COPY *.deb /package/
RUN apt-get install --yes --no-install-recommends --download-only /package/*.deb
CMD ["/lib/systemd/systemd"]
"""


class Machine:
    """A Debian in a container: with systemd as process 1, or with nothing; use it with `with`."""

    def __init__(self, engine, *command):
        self.engine = engine
        self.command = command

    def __enter__(self):
        self.engine.podman(
            "run", "--detach", "--name", "machine", f"--network=ns:/run/netns/{NETWORK}", "--privileged",
            "--systemd=always" if not self.command else "--systemd=false", "--volume=/etc/apt:/etc/apt:ro",
            IMAGE, *self.command)
        if not self.command:
            self.wait_for("systemctl is-system-running | grep -qx running", "systemd to start")
        return self

    def __exit__(self, *_):
        self.engine.podman("rm", "--force", "--time", "5", "machine")

    def shell(self, script, check=True):
        """Runs a line of shell as root; its output, and its status where that is not checked."""
        done = subprocess.run(
            ["podman", "exec", "--env=DEBIAN_FRONTEND=noninteractive", "machine", "sh", "-c", script],
            env=self.engine.environment, text=True, capture_output=True, timeout=120)
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
        while self.engine.inside("curl", "--silent", "--fail", f"http://127.0.0.1:{port}/readyz")[0] != 0:
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
        """All that is called after the program or belongs to its account, but the package manager's and
        the journal's own."""
        return self.shell(
            "find / -xdev \\( -path /proc -o -path /sys -o -path /package -o -path /var/log -o -path /var/cache"
            " -o -path /var/lib/apt \\) -prune -o \\( -name '*lookahead*' -o -nouser \\) -print").split()


def packages():
    folder = images.ROOT / ".build/packages"
    return next(folder.glob("*.deb")), next(folder.glob("*.tar.gz"))


def makes(_):
    """script/package, twice with the same bytes; nothing that lintian calls an error."""
    machine.run(images.ROOT / "script/package", timeout=1500)
    package, archive = packages()
    first = package.read_bytes(), archive.read_bytes()
    machine.run(images.ROOT / "script/package", timeout=600)
    require((package.read_bytes(), archive.read_bytes()) == first, "another run gives other bytes")
    return ", ".join(f"{path.name} {len(data) / 1e6:.1f} MB" for path, data in zip((package, archive), first))


def pleases_lintian(_):
    if not shutil.which("lintian"):
        raise Skipped("there is no lintian")
    done = subprocess.run(["lintian", "--allow-root", packages()[0]], text=True, capture_output=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line[:2] in ("E:", "W:")]
    require(not [line for line in lines if line.startswith("E:")], "\n".join(lines))
    return "; ".join(lines) or "no errors, no warnings"


def archive_runs(engine):
    """The tarball's program, where it was unpacked."""
    folder = engine.folder / "unpacked"
    folder.mkdir(exist_ok=True)
    machine.run("tar", "--extract", "--file", packages()[1], "--directory", folder, "--strip-components=1",
                timeout=60)
    database = folder / "feed.sqlite"
    database.unlink(missing_ok=True)
    machine.run(folder / "bin/lookahead", "seed", "--fixtures", folder / "share/lookahead/fixtures",
                "--database", database, timeout=60)
    return machine.run(folder / "bin/lookahead", "check", "--database", database, timeout=60).strip()


def clean_machine(engine):
    folder = engine.folder / "package"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(packages()[0], folder)
    (folder / "Dockerfile").write_text(CLEAN.format(debian=images.named()["debian"]))
    engine.buildah("build", "--isolation=chroot", "--format=docker", "--pull=never", "--layers",
                   *machine.build_mounts(engine.folder), "--tag", IMAGE, folder, timeout=600)


def installs(machine):
    """Enabled, running, ready, with its own account and folder."""
    start = time.monotonic()
    machine.install()
    machine.wait_until_ready()
    seconds = time.monotonic() - start
    require(machine.shell("systemctl is-enabled lookahead") == "enabled", "it is not enabled")
    (pid,) = machine.processes()
    account = machine.shell("id -u lookahead")
    status = machine.shell(f"cat /proc/{pid}/status")
    require(re.search(rf"^Uid:\t{account}\t", status, re.M), status)
    require(re.search(r"^CapEff:\t0+$", status, re.M), status)
    require(machine.shell("stat -c '%U %a' /var/lib/lookahead") == "lookahead 750", "its folder")
    listening = engine_listens(machine)
    require(listening == ["127.0.0.1:8080"], f"it listens on {listening}")
    return f"ready {seconds:.1f} s after `apt-get install` began"


def engine_listens(machine):
    _, output, _ = machine.engine.inside("ss", "--listening", "--tcp", "--numeric", "--no-header")
    return [line.split()[3] for line in output.splitlines()]


def is_hardened(machine):
    """It can write nowhere but its own folder, and systemd knows how confined it is."""
    (pid,) = machine.processes()
    mounts = machine.shell(f"cat /proc/{pid}/mountinfo").splitlines()
    options = {line.split()[4]: line.split()[5].split(",") for line in mounts}
    require("ro" in options["/"], "its root file system is writable")
    require("rw" in options["/var/lib/lookahead"], "its folder is not writable")
    text = machine.shell("systemd-analyze security --no-pager lookahead.service")
    return text.splitlines()[-1].strip("→ ").encode("ascii", "ignore").decode().strip()


def serves(machine):
    """Seeded by hand with the service's account, and served."""
    said = machine.shell(
        f"setpriv --reuid lookahead --regid lookahead --clear-groups lookahead seed --database {DATABASE}"
        " --fixtures /usr/share/lookahead/fixtures")
    status, body, _ = machine.get(PAGE)
    require(status == 200 and len(json.loads(body)["items"]) == 30, f"status {status}")
    return said.splitlines()[-1]


def reads_settings(machine):
    """A setting of /etc/default/lookahead: another port; and back."""
    machine.shell("echo LOOKAHEAD_PORT=8090 >>/etc/default/lookahead && systemctl restart lookahead")
    machine.wait_until_ready(8090)
    status, _, _ = machine.get(PAGE, 8090)
    require(status == 200, f"status {status}")


def has_its_papers(machine):
    """The manual, the completions of bash, the licence."""
    text = machine.shell("cat /usr/share/man/man1/lookahead.1.gz | gzip -dc")
    require(".TH" in text or ".Dd" in text, text[:200])
    machine.shell(
        "bash -c '. /usr/share/bash-completion/completions/lookahead && complete -p lookahead'")
    require("GRDB" in machine.shell("gzip -dc /usr/share/doc/lookahead/linked-with.gz"), "its licences")


def installs_again(machine):
    """An upgrade: the service is restarted, the operator's settings and the data stay."""
    (before,) = machine.processes()
    machine.shell("dpkg --install --force-confold /package/*.deb")
    machine.wait_until_ready(8090)
    (after,) = machine.processes()
    require(before != after, "it still runs the old program")
    require(machine.get(PAGE, 8090)[0] == 200, "a page")


def stops(machine):
    start = time.monotonic()
    machine.shell("systemctl stop lookahead")
    seconds = time.monotonic() - start
    shown = machine.shell("systemctl show --property Result,ExecMainStatus lookahead")
    require("Result=success" in shown and "ExecMainStatus=0" in shown, shown)
    machine.shell("systemctl start lookahead")
    machine.wait_until_ready(8090)
    return f"status 0 after {seconds * 1000:.0f} ms"


def is_removed(machine):
    """Removed: no process, no program, the data stays. Purged: nothing stays."""
    machine.shell("apt-get remove --yes lookahead")
    require(machine.processes() == [], "a process still runs")
    require(machine.shell("test -e /usr/bin/lookahead", check=False)[0] != 0, "the program is there")
    machine.shell(f"test -s {DATABASE} && test -e /etc/default/lookahead")
    machine.shell("apt-get purge --yes lookahead")
    require(machine.files() == [], f"left: {machine.files()}")
    require(machine.shell("getent passwd lookahead", check=False)[0] != 0, "the account is there")
    require(machine.shell("systemctl --failed --no-legend") == "", "systemd has a failed unit")


def without_systemd(engine):
    """In a container without systemd: installed, run by hand as its account, purged."""
    with Machine(engine, "sleep", "600") as machine:
        machine.install()
        command = machine.shell("sed -n 's/^ExecStart=//p' /lib/systemd/system/lookahead.service")
        machine.shell(
            f"LOOKAHEAD_DATABASE={DATABASE} setpriv --reuid lookahead --regid lookahead --clear-groups {command}"
            " >/tmp/said 2>&1 & echo $! >/tmp/pid")
        machine.wait_until_ready()
        machine.shell("kill $(cat /tmp/pid)")
        require(wait_until(lambda: not machine.processes(), 20), "it does not end")
        machine.shell("apt-get purge --yes lookahead")
        require(machine.files() == [], f"left: {machine.files()}")


def check(checks, engine):
    names = images.named()
    checks.run(f"a base image, {names['debian'].removeprefix('docker.io/library/')}", images.make_debian,
               engine, names)
    checks.run("script/package, twice the same", makes, engine)
    if checks.counts["FAILED"]:
        return
    checks.run("a clean machine", clean_machine, engine)
    if checks.counts["FAILED"]:
        return
    checks.run("lintian", pleases_lintian, engine)
    checks.run("the tarball", archive_runs, engine)
    with Machine(engine) as debian:
        for name, look in [
            ("apt-get install", installs), ("its confinement", is_hardened), ("seeded, a page", serves),
            ("/etc/default/lookahead", reads_settings), ("manual, completions, licences", has_its_papers),
            ("installed over itself", installs_again), ("systemctl stop", stops),
            ("removed, then purged", is_removed),
        ]:
            checks.run(name, look, debian)
    checks.run("without systemd", without_systemd, engine)


def main(kept=None):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(kept or tempfile.mkdtemp(prefix="lookahead-package-", dir="/var/tmp")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    engine = Engine(folder)
    try:
        with engine:
            check(checks, engine)
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 0
    finally:
        if not kept:
            engine.remove()
    return checks.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
