"""buildah and podman with a storage, settings and a network of their own, so that nothing of the
machine's is touched and nothing stays."""

import json
import os
import pathlib
import shutil
import subprocess

from checks import require
from machine import run

NETWORK = f"lookahead-{os.getpid()}"

STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""

# No registry is asked for anything: the images of these names are here.
REGISTRIES = """\
unqualified-search-registries = ["docker.io"]
"""

CONTAINERS = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
tmp_dir = "{folder}/libpod"
volume_path = "{folder}/volumes"
"""

# As docker/compose.yaml has it; nothing is writable but the volumes.
HARDENED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all",
            "--security-opt=no-new-privileges"]


class Engine:
    """Use it with `with`: what it started ends with it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOKAHEAD_")}
        # Health checks run when they are asked to; a timer would be systemd's.
        self.environment["DISABLE_HC_SYSTEMD"] = "true"
        for variable, text in [
            ("CONTAINERS_STORAGE_CONF", STORAGE), ("CONTAINERS_REGISTRIES_CONF", REGISTRIES),
            ("CONTAINERS_CONF", CONTAINERS),
        ]:
            path = self.folder / f"{variable.lower()}.conf"
            path.write_text(text.format(folder=self.folder))
            self.environment[variable] = str(path)

    def __enter__(self):
        # Whatever listens in there, on whichever address, is reached from nowhere else.
        run("ip", "netns", "add", NETWORK, timeout=20)
        run("ip", "-n", NETWORK, "link", "set", "lo", "up", timeout=20)
        return self

    def __exit__(self, *_):
        for command in ["rm --all --force --time 0", "pod rm --all --force", "volume rm --all --force"]:
            self.attempt("podman", *command.split())
        self.attempt("ip", "netns", "del", NETWORK)

    def remove(self):
        """Removes the images and all that was stored."""
        self.attempt("buildah", "rm", "--all")
        self.attempt("buildah", "rmi", "--all", "--force")
        for path in reversed(self.mounted()):
            self.attempt("umount", path)
        # Beneath a mount that stays there are files that are not the test's.
        require(not self.mounted(), f"still mounted, so not removed: {self.mounted()}")
        shutil.rmtree(self.folder, ignore_errors=True)

    def mounted(self):
        """What is mounted within the folder, in the order in which it was mounted."""
        lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        paths = [line.split()[4] for line in lines]
        return [path for path in paths if path.startswith(f"{self.folder}/")]

    def attempt(self, *command):
        """Runs what may fail; its status."""
        return subprocess.run(command, env=self.environment, capture_output=True, timeout=300).returncode

    def podman(self, *arguments, timeout=60, **options):
        return run("podman", *arguments, timeout=timeout, env=self.environment, **options)

    def buildah(self, *arguments, timeout=60, **options):
        return run("buildah", *arguments, timeout=timeout, env=self.environment, **options)

    def has(self, image):
        return self.attempt("podman", "image", "exists", image) == 0

    def inspect(self, kind, name):
        return json.loads(self.podman(kind, "inspect", name))[0]

    def once(self, image, *command, options=(), **more):
        """Runs a container to its end: status, output, errors."""
        done = subprocess.run(
            ["podman", "run", "--rm", "--interactive", f"--network=ns:/run/netns/{NETWORK}", *HARDENED,
             *map(str, options), image, *map(str, command)],
            env=self.environment, text=True, capture_output=True, timeout=120, **more)
        return done.returncode, done.stdout, done.stderr

    def inside(self, *command, timeout=60):
        """A command of this machine in the containers' network: status, output, errors."""
        done = subprocess.run(
            ["ip", "netns", "exec", NETWORK, *map(str, command)], text=True, capture_output=True,
            timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def get(self, address, *options):
        """One request of curl: status, body, header fields in small letters."""
        head = self.folder / "head"
        status, body, errors = self.inside(
            "curl", "--silent", "--show-error", "--max-time", 10, "--dump-header", head, *options,
            address)
        require(status == 0, f"curl {address}: {errors}")
        lines = head.read_text().splitlines()
        fields = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        return int(lines[0].split()[1]), body, fields
