"""docker/README.md, followed word for word: its commands, with podman in Docker's place."""

import json
import re
import shutil
import subprocess
import sys

import images
from checks import Skipped, require
from engine import NETWORK
from machine import run

sys.path.append(str(images.ROOT / "Tests/readme"))
import blocks  # noqa: E402

README = images.ROOT / "docker/README.md"

# What this test has otherwise than compose.yaml: the network, health checks without a timer, and a limit
# that podman otherwise wants to raise, which it may not everywhere.
OVERRIDE = """\
services:
  server:
    network_mode: ns:/run/netns/{network}
    ports: !reset []
    ulimits:
      nofile: 20000
      nproc: 4096
  proxy:
    network_mode: ns:/run/netns/{network}
    ports: !reset []
    extra_hosts: ["server:127.0.0.1"]
    depends_on: !reset []
"""

# A clone is here, and the image is built.
DONE_BEFORE = ("git ", "cd ", "docker build", "docker compose build")


def documented(heading):
    """The commands of a section, a line each."""
    lines = [command.text.replace("\\\n", " ") for command in blocks.commands(README) if command.heading == heading]
    require(lines, f"docker/README.md has no commands under {heading}")
    commands = [re.sub(r"\s+# .*", "", line) for line in lines]
    return [command for command in commands if not command.startswith(DONE_BEFORE)]


class Reader:
    """Somebody who has the folder docker/ and types what its README says."""

    def __init__(self, engine):
        self.engine = engine
        self.folder = engine.folder / "docker"
        shutil.rmtree(self.folder, ignore_errors=True)
        unwanted = shutil.ignore_patterns("certificates", "media", ".env")
        shutil.copytree(images.ROOT / "docker", self.folder, ignore=unwanted)
        media = self.folder.parent / "Fixtures/media"
        shutil.rmtree(media, ignore_errors=True)
        shutil.copytree(images.ROOT / "Fixtures/media", media)
        (self.folder / "compose.override.yaml").write_text(OVERRIDE.format(network=NETWORK))
        record = {"id": "own", "type": "text", "feeds": [{"name": "own"}]}
        (self.folder / "posts.ndjson").write_text(json.dumps(record) + "\n")
        engine.podman("tag", images.IMAGE, "localhost/lookahead:latest")
        engine.podman("tag", images.PROBE, "localhost/lookahead-probe:latest")
        self.environment = engine.environment | {
            "NGINX_VERSION": images.named()["nginx"].split(":")[1]}
        self.compose = self._podman_compose()

    def _podman_compose(self):
        """podman-compose, from PyPI, in the test's own folder."""
        python = self.engine.folder / "python"
        if not (python / "bin/podman-compose").exists():
            run("python3", "-m", "venv", python, timeout=120)
            try:
                run(python / "bin/pip", "install", "--quiet", "podman-compose", timeout=180)
            except RuntimeError as error:
                raise Skipped("podman-compose could not be installed") from error
        return python / "bin/podman-compose"

    def follow(self, heading):
        """Types the section's commands; what the last of them printed."""
        for command in documented(heading):
            output = self.type(command)
        return output

    def type(self, command):
        # podman-compose has no `cp`, and no `run` of a service whose profile is off.
        translated = re.sub(r"^docker compose cp (\w+):", r"podman cp lookahead_\1_1:", command)
        translated = re.sub(r"^docker compose", f"{self.compose} --profile seed --profile probe", translated)
        options = "--ulimit nofile=20000 --ulimit nproc=4096"
        # What is to have no network has none.
        if "--network" not in command:
            options += f" --network ns:/run/netns/{NETWORK}"
        for taken_over in ["--publish 127.0.0.1:8080:8080", "--ulimit nofile=21000"]:
            translated = translated.replace(taken_over, "")
        translated = re.sub(r"^docker run", f"podman run {options}", translated)
        translated = re.sub(r"^docker ", "podman ", translated)
        if translated.startswith("curl"):
            translated = f"ip netns exec {NETWORK} {self.until_it_answers(translated)}"
        done = subprocess.run(
            ["bash", "-c", translated], env=self.environment, cwd=self.folder, text=True,
            capture_output=True, timeout=180, stdin=subprocess.DEVNULL)
        require(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def until_it_answers(self, curl):
        """A person would try again."""
        return f"{curl} --silent --show-error --fail --retry 40 --retry-delay 1 --retry-all-errors"


def with_compose(engine):
    reader = Reader(engine)
    try:
        page = reader.follow("From nothing to a feed, with Compose")
        require("own" in reader.type("curl http://127.0.0.1:8080/v1/feeds"), "posts of one's own")
        reader.follow("Backups")
        page = reader.follow("TLS")
        require(len(json.loads(page)["items"]) == 3, page)
        film = "https://localhost/media/first-ferry/0.mp4"
        reader.type(f"curl --cacert certificates/server.crt --output /dev/null {film}")
        reader.type("docker compose --profile tls stop")
        states = {name: engine.inspect("container", name)["State"]["ExitCode"]
                  for name in engine.podman("ps", "--all", "--format", "{{.Names}}").split()}
        # A run over all files may not be at its end yet: it is ended, and the next one goes on.
        probing = {code for name, code in states.items() if "probe" in name}
        serving = {code for name, code in states.items() if "probe" not in name}
        require(len(states) >= 2 and serving == {0} and probing <= {0, 143}, f"they ended with {states}")
    finally:
        reader.type("docker compose --profile tls down --volumes")


def without_compose(engine):
    reader = Reader(engine)
    try:
        reader.follow("From nothing to a feed, without")
        page = reader.type("curl 'http://127.0.0.1:8080/rp/?feed=featured&limit=3'")
        require(len(json.loads(page)["items"]) == 3, page)
        reader.type("curl --output /dev/null http://127.0.0.1:8080/media/first-ferry/0.mp4")
    finally:
        reader.type("docker rm --force --time 0 lookahead")


CHECKS = {
    "docker/README.md, with Compose": with_compose,
    "docker/README.md, without Compose": without_compose,
}
