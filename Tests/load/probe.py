"""A normal client that asks all the time while something else goes on."""

import http.client
import threading
import time

EVERY_SECONDS = 0.05


class Probe:
    """Requests a page every 50 ms, each on a new connection; use it with `with`.

    A request's time runs from when it was due: one that is held up counts for those behind it, too.
    """

    def __init__(self, port, path="/rp/?feed=featured&limit=30"):
        self.port = port
        self.path = path
        self.milliseconds = []
        self.failures = []
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(timeout=30)

    def run(self):
        due = time.monotonic()
        while not self.stopped.is_set():
            try:
                self.ask()
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(f"{type(error).__name__}: {error}")
            self.milliseconds.append((time.monotonic() - due) * 1000)
            due += EVERY_SECONDS
            self.stopped.wait(max(0, due - time.monotonic()))

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", self.path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or not body.endswith(b"}"):
                self.failures.append(f"status {answer.status}")
        finally:
            connection.close()

    def percentile(self, percent):
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

    def __str__(self):
        return (f"{len(self.milliseconds)} requests, {len(self.failures)} failed, p50 "
                f"{self.percentile(50):.1f} ms, p99 {self.percentile(99):.1f} ms, "
                f"max {max(self.milliseconds):.0f} ms")
