"""The package installed: a service that starts, serves, is upgraded, stops, and goes without a trace."""

import json
import re
import time

from checks import require
from debian import Debian
from running import wait_until

DATABASE = "/var/lib/lookahead/lookahead.sqlite"
PAGE = "/rp/?feed=featured&limit=30"
AS_ACCOUNT = "setpriv --reuid lookahead --regid lookahead --clear-groups"


def installs(debian):
    """Enabled, running, ready, with its own account and folder."""
    start = time.monotonic()
    debian.install()
    debian.wait_until_ready()
    seconds = time.monotonic() - start
    require(debian.shell("systemctl is-enabled lookahead") == "enabled", "it is not enabled")
    (pid,) = debian.processes()
    account = debian.shell("id -u lookahead")
    status = debian.shell(f"cat /proc/{pid}/status")
    require(re.search(rf"^Uid:\t{account}\t", status, re.M), status)
    require(re.search(r"^CapEff:\t0+$", status, re.M), status)
    require(debian.shell("stat -c '%U %a' /var/lib/lookahead") == "lookahead 750", "its folder")
    addresses = listening(debian)
    require(addresses == ["127.0.0.1:8080"], f"it listens on {addresses}")
    return f"ready {seconds:.1f} s after `apt-get install` began"


def listening(debian):
    _, output, _ = debian.engine.inside("ss", "--listening", "--tcp", "--numeric", "--no-header")
    return [line.split()[3] for line in output.splitlines()]


def is_hardened(debian):
    """It can write nowhere but its own folder, and systemd knows how confined it is."""
    (pid,) = debian.processes()
    mounts = debian.shell(f"cat /proc/{pid}/mountinfo").splitlines()
    options = {line.split()[4]: line.split()[5].split(",") for line in mounts}
    require("ro" in options["/"], "its root file system is writable")
    require("rw" in options["/var/lib/lookahead"], "its folder is not writable")
    text = debian.shell("systemd-analyze security --no-pager lookahead.service")
    return text.splitlines()[-1].strip("→ ").encode("ascii", "ignore").decode().strip()


def serves(debian):
    """Seeded by hand with the service's account, and served, with the files that the page names."""
    said = debian.shell(
        f"{AS_ACCOUNT} lookahead seed --database {DATABASE}"
        " --fixtures /usr/share/lookahead/fixtures")
    # The server looks every 20 ms for what another process wrote.
    for _ in range(50):
        status, body, _ = debian.get(PAGE)
        if status == 200:
            break
        time.sleep(0.02)
    require(status == 200 and len(json.loads(body)["items"]) == 30, f"status {status}")
    parts = [part for item in json.loads(body)["items"] for part in item.get("media", [])]
    require(parts, "the page names no files")
    for part in parts:
        status, _, fields = debian.engine.get(f"http://127.0.0.1:8080{part['url']}", "--head")
        require(status == 200 and int(fields["content-length"]) == part["bytes"], part["url"])
    return said.splitlines()[-1]


def knows_media(debian):
    """What lies in the fixtures' files: without ffmpeg, and how they look once it is installed."""
    def parts():
        items = json.loads(debian.get(PAGE)[1])["items"]
        return [part for item in items for part in item.get("media", [])]

    debian.shell("systemctl restart lookahead")
    debian.wait_until_ready()
    require(wait_until(lambda: all("immutableUrl" in part for part in parts()), 60, 0.5),
            f"not known: {[part for part in parts() if 'immutableUrl' not in part]}")
    require(not any("placeholder" in part for part in parts()), "placeholders, without ffmpeg")
    # What was fetched with the image; an installation in between may have emptied apt's own folder.
    debian.shell("apt-get install --yes --no-install-recommends --option Dir::Cache::archives=/archives ffmpeg",
                 seconds=400)
    debian.shell("systemctl restart lookahead")
    debian.wait_until_ready()
    pictures = [part["url"] for part in parts() if part["mimeType"] != "image/svg+xml"]
    found = wait_until(
        lambda: sum("placeholder" in part for part in parts()) >= len(pictures), 200, 0.5)
    require(found, "no placeholders: " + debian.shell("journalctl --no-pager --unit lookahead --lines 20"))
    figures = debian.get("/metrics")[1]
    require('lookahead_media_files{state="broken"} 0' in figures, "broken files")
    return f"{len(pictures)} placeholders"


def reads_settings(debian):
    """A setting of /etc/default/lookahead: another port; and back."""
    debian.shell("echo LOOKAHEAD_PORT=8090 >>/etc/default/lookahead && systemctl restart lookahead")
    debian.wait_until_ready(8090)
    status, _, _ = debian.get(PAGE, 8090)
    require(status == 200, f"status {status}")


def has_its_papers(debian):
    """The manual, the completions of bash, the licence."""
    text = debian.shell("cat /usr/share/man/man1/lookahead.1.gz | gzip -dc")
    require(".TH" in text or ".Dd" in text, text[:200])
    debian.shell(
        "bash -c '. /usr/share/bash-completion/completions/lookahead && complete -p lookahead'")
    require("GRDB" in debian.shell("gzip -dc /usr/share/doc/lookahead/linked-with.gz"), "its licences")


def installs_again(debian):
    """An upgrade: the service is restarted, the operator's settings and the data stay."""
    (before,) = debian.processes()
    debian.shell("dpkg --install --force-confold /package/*.deb")
    debian.wait_until_ready(8090)
    (after,) = debian.processes()
    require(before != after, "it still runs the old program")
    require(debian.get(PAGE, 8090)[0] == 200, "a page")


def stops(debian):
    start = time.monotonic()
    debian.shell("systemctl stop lookahead")
    seconds = time.monotonic() - start
    shown = debian.shell("systemctl show --property Result,ExecMainStatus lookahead")
    require("Result=success" in shown and "ExecMainStatus=0" in shown, shown)
    debian.shell("systemctl start lookahead")
    debian.wait_until_ready(8090)
    (before,) = debian.processes()
    debian.shell("systemctl kill --signal=HUP lookahead")
    debian.wait_until_ready(8090)
    require(debian.processes() == [before], "SIGHUP has ended it")
    return f"status 0 after {seconds * 1000:.0f} ms"


def is_removed(debian):
    """Removed: no process, no program, the data stays. Purged: nothing stays."""
    debian.shell("apt-get remove --yes lookahead")
    require(debian.processes() == [], "a process still runs")
    require(debian.shell("test -e /usr/bin/lookahead", check=False)[0] != 0, "the program is there")
    debian.shell(f"test -s {DATABASE} && test -e /etc/default/lookahead")
    debian.shell("apt-get purge --yes lookahead")
    require(debian.files() == [], f"left: {debian.files()}")
    require(debian.shell("getent passwd lookahead", check=False)[0] != 0, "the account is there")
    require(debian.shell("systemctl --failed --no-legend") == "", "systemd has a failed unit")


def without_systemd(engine):
    """In a container without systemd: installed, run by hand as its account, purged."""
    with Debian(engine, "sleep", "600") as debian:
        debian.install()
        command = debian.shell("sed -n 's/^ExecStart=//p' /lib/systemd/system/lookahead.service")
        debian.shell(
            f"LOOKAHEAD_DATABASE={DATABASE} {AS_ACCOUNT} {command} >/tmp/said 2>&1 & echo $! >/tmp/pid")
        debian.wait_until_ready()
        debian.shell("kill $(cat /tmp/pid)")
        require(wait_until(lambda: not debian.processes(), 20), "it does not end")
        debian.shell("apt-get purge --yes lookahead")
        require(debian.files() == [], f"left: {debian.files()}")


CHECKS = {
    "apt-get install": installs,
    "its confinement": is_hardened,
    "seeded, a page": serves,
    "media files, without ffmpeg and with it": knows_media,
    "/etc/default/lookahead": reads_settings,
    "manual, completions, licences": has_its_papers,
    "installed over itself": installs_again,
    "systemctl stop, start, SIGHUP": stops,
    "removed, then purged": is_removed,
}
