"""A container of the image that serves."""

import subprocess
import time

from engine import HARDENED, NETWORK


class Server:
    """Runs while a `with` block does; ready when that begins."""

    def __init__(self, engine, image, volume, *options, port=8080, name="server"):
        self.engine = engine
        self.name = name
        self.port = port
        self.ready_milliseconds = None
        self.arguments = [
            "run", "--detach", "--name", name, f"--network=ns:/run/netns/{NETWORK}",
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
