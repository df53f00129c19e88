"""buildah and podman with a storage, settings and a network of their own, so that nothing of the
machine's is touched and nothing stays."""

import json
import os
import pathlib
import shutil
import subprocess
import time

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


class Engine:
    """Use it with `with`: what it started ends with it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOKAHEAD_")}
        # Health checks run when they are asked to; a timer would be systemd's.
        self.environment["DISABLE_HC_SYSTEMD"] = "true"
        for name, text in [("storage", STORAGE), ("registries", REGISTRIES), ("containers", CONTAINERS)]:
            path = self.folder / f"{name}.conf"
            path.write_text(text.format(folder=self.folder))
            key = "CONTAINERS_CONF" if name == "containers" else f"CONTAINERS_{name.upper()}_CONF"
            self.environment[key] = str(path)

    def __enter__(self):
        # Whatever listens in there, on whichever address, is reached from nowhere else.
        run("ip", "netns", "add", NETWORK, timeout=20)
        run("ip", "-n", NETWORK, "link", "set", "lo", "up", timeout=20)
        return self

    def __exit__(self, *_):
        for command in [("rm", "--all", "--force", "--time", "0"), ("pod", "rm", "--all", "--force"),
                        ("volume", "rm", "--all", "--force")]:
            subprocess.run(["podman", *command], env=self.environment, capture_output=True, timeout=120)
        subprocess.run(["ip", "netns", "del", NETWORK], capture_output=True, timeout=20)

    def remove(self):
        """Removes the images and all that was stored."""
        subprocess.run(["buildah", "rm", "--all"], env=self.environment, capture_output=True, timeout=120)
        subprocess.run(["buildah", "rmi", "--all", "--force"], env=self.environment,
                       capture_output=True, timeout=300)
        subprocess.run(["umount", "--recursive", self.folder / "storage/overlay"], capture_output=True,
                       timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def podman(self, *arguments, timeout=60, **options):
        return run("podman", *arguments, timeout=timeout, env=self.environment, **options)

    def buildah(self, *arguments, timeout=60, **options):
        return run("buildah", *arguments, timeout=timeout, env=self.environment, **options)

    def has(self, image):
        done = subprocess.run(["podman", "image", "exists", image], env=self.environment, timeout=60)
        return done.returncode == 0

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
            "curl", "--silent", "--show-error", "--max-time", 10, "--dump-header", head, *options, address)
        require(status == 0, f"curl {address}: {errors}")
        lines = head.read_text().splitlines()
        fields = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        return int(lines[0].split()[1]), body, fields


# As docker/compose.yaml has it; nothing is writable but the volumes.
HARDENED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all",
            "--security-opt=no-new-privileges"]


class Server:
    """A container of the image that serves; use it with `with`."""

    def __init__(self, engine, image, volume, *options, port=8080, name="server", network=None):
        self.engine = engine
        self.name = name
        self.port = port
        self.ready_milliseconds = None
        self.arguments = [
            "run", "--detach", "--name", name, f"--network={network or 'ns:/run/netns/' + NETWORK}",
            *HARDENED, f"--volume={volume}:/data", f"--env=LOOKAHEAD_PORT={port}", *options, image]

    def __enter__(self):
        start = time.monotonic()
        self.engine.podman(*self.arguments)
        end = start + 20
        while not self.is_ready():
            if time.monotonic() > end or not self.state()["Running"]:
                logs = self.logs()
                self.__exit__()
                raise RuntimeError(f"the container did not get ready: {logs}")
        self.ready_milliseconds = (time.monotonic() - start) * 1000
        return self

    def __exit__(self, *_):
        subprocess.run(["podman", "rm", "--force", "--time", "0", self.name],
                       env=self.engine.environment, capture_output=True, timeout=60)

    def is_ready(self):
        status, output, _ = self.engine.inside(
            "curl", "--silent", "--max-time", 2, "--output", "/dev/null", "--write-out", "%{http_code}",
            self.url("/readyz"))
        return status == 0 and output == "200"

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path, *options):
        return self.engine.get(self.url(path), *options)

    def state(self):
        return self.engine.inspect("container", self.name)["State"]

    def pid(self):
        """The process's number outside of the container."""
        return self.state()["Pid"]

    def logs(self):
        done = subprocess.run(["podman", "logs", self.name], env=self.engine.environment, text=True,
                              capture_output=True, timeout=60)
        return done.stdout + done.stderr

    def execute(self, *command):
        """Runs a command within it: status and output."""
        done = subprocess.run(["podman", "exec", self.name, *command], env=self.engine.environment,
                              text=True, capture_output=True, timeout=60)
        return done.returncode, (done.stdout + done.stderr).strip()

    def stop(self, seconds=40):
        """As `docker stop`: the image's signal, and time to end; how long that took, and the status."""
        start = time.monotonic()
        self.engine.podman("stop", "--time", str(seconds), self.name, timeout=seconds + 30)
        return time.monotonic() - start, self.state()["ExitCode"]
