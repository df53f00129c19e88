"""A Lookahead of one's own to test: started on a free port, watched, and stopped by its process id."""

import http.client
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

from ports import free_port

FIXTURES = pathlib.Path(__file__).parents[2] / "Fixtures"
TOKEN = "token-of-the-tests-0123456789"


def environment(**added):
    """Ours, without settings of the program; a crash does not wait for a debugger."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("LOOKAHEAD_")}
    return {**inherited, "SWIFT_BACKTRACE": "enable=no", **added}


class RunningServer:
    """A server on 127.0.0.1 with its own database; use it with `with`."""

    def __init__(self, program, folder, *options, media=None, descriptors=None):
        self.program = str(program)
        self.database = pathlib.Path(folder) / "feed.sqlite"
        self.log = pathlib.Path(folder) / "server.log"
        self.options = [*options, *(["--media-root", str(media)] if media else [])]
        self.descriptors = descriptors
        # What stands before the command; the process has to remain our child.
        self.before = []
        self.process = None
        self.port = 0

    def __enter__(self):
        if not self.database.exists():
            self.command("seed", "--fixtures", str(FIXTURES))
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

    def command(self, *arguments):
        """Runs another command of the program on the database; its output."""
        done = subprocess.run(
            [self.program, *arguments], env=environment(LOOKAHEAD_DATABASE=str(self.database)), capture_output=True,
            text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"lookahead {arguments[0]}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def start(self):
        """Starts the server, on the same port as before if there was one."""
        started = self.port > 0
        self.port = self.port or free_port()
        with open(self.log, "ab" if started else "wb") as log:
            self.process = subprocess.Popen(
                [*self.before, self.program, "serve", "--database", str(self.database), "--port", str(self.port),
                 *self.options],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                env=environment(LOOKAHEAD_WRITE_TOKEN=TOKEN), preexec_fn=self._limit_descriptors)
        said = self.process.stdout.readline()
        found = re.search(r":(\d+)/$", said.strip())
        if not found:
            raise RuntimeError(f"the server did not start: {said}{self.log.read_text()[-2000:]}")
        self.port = int(found[1])

    def _limit_descriptors(self):
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def terminate(self, within_seconds=40):
        """Ends the server as an operator does; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=within_seconds)

    def kill(self):
        """Ends it without a chance to clean up."""
        self.process.kill()
        self.process.wait(timeout=10)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path, fields=(), timeout=10):
        """One request on a connection of its own: status, header fields, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers=dict(fields))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def ask(self, method, path, document=None, token=None, fields=(), timeout=10):
        """One request with a JSON body, on a connection of its own: status, header fields, body."""
        sent = dict(fields)
        if token:
            sent["Authorization"] = f"Bearer {token}"
        body = None
        if document is not None:
            sent["Content-Type"] = "application/json"
            body = json.dumps(document)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def metrics(self):
        """The figures of /metrics by name and labels, as they stand in the text."""
        text = self.get("/metrics")[2].decode()
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in lines}

    def answers(self, route, status, method="GET"):
        """How many such answers the server has counted."""
        name = f'lookahead_http_requests_total{{method="{method}",route="{route}",status="{status}"}}'
        return int(self.metrics().get(name, 0))

    def requests(self):
        """The requests in the server's log."""
        lines = (json.loads(line) for line in self.log.read_text().splitlines() if line[:1] == "{")
        return [line for line in lines if line.get("message") == "request"]

    def resident_bytes(self):
        return self._memory("Rss")

    def private_bytes(self):
        return self._memory("Private_Clean") + self._memory("Private_Dirty")

    def _memory(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M)[1]) * 1024

    def cpu_seconds(self):
        """How much CPU time the process has used."""
        after_name = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1]
        ticks = after_name.split()
        return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def wait_until(condition, within_seconds, step_seconds=0.05):
    """Whether the condition came true in time."""
    end = time.monotonic() + within_seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(step_seconds)
    return True
