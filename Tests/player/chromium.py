"""A headless Chromium, driven by its remote debugging protocol over a pipe (--remote-debugging-pipe)."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Chromium:
    """One tab; use it with `with`."""

    def __init__(self, width=640, height=480):
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        self.size = f"{width},{height}"
        self.number = 0
        self.received = b""
        self.session = None
        # What happened in the domains that were enabled: Runtime.enable, Log.enable, Network.enable, …
        self.events = []

    def __enter__(self):
        # On a busy machine Chromium now and then ends while it starts: once of some hundred times.
        for attempt in range(3):
            self._start()
            try:
                pages = [target for target in self.call("Target.getTargets")["targetInfos"]
                         if target["type"] == "page"]
                break
            except (BrokenPipeError, RuntimeError):
                self._end()
                if attempt == 2:
                    raise
        self.session = self.call(
            "Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        return self

    def _start(self):
        self.received = b""
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def take_pipes():
            # It reads from descriptor 3 and writes to 4; first out of each other's way.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        command = [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-extensions", "--disable-background-networking", "--mute-audio",
            "--autoplay-policy=no-user-gesture-required", "--hide-scrollbars", f"--window-size={self.size}",
            f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=take_pipes, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)

    def _end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.output)
        os.close(self.input)

    def __exit__(self, *_):
        try:
            self.call("Browser.close", browser=True)
            self.process.wait(timeout=10)
        except (OSError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            pass
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, within_seconds=60, browser=False, **parameters):
        """Calls a method of the protocol; what it answers. What happens meanwhile is kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session and not browser:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + within_seconds
        while True:
            answer = self._next(deadline)
            if "method" in answer:
                self.events.append(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self, deadline):
        while b"\0" not in self.received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.input, 1 << 16)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.received += piece
        text, _, self.received = self.received.partition(b"\0")
        return json.loads(text)

    def evaluate(self, expression):
        """The value of a JavaScript expression; a promise's, once it has one."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, within_seconds=60):
        """The value of an expression once it is true; None where it does not become so."""
        deadline = time.monotonic() + within_seconds
        while time.monotonic() < deadline:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.05)
        return None

    def screenshot(self, file):
        shot = self.call("Page.captureScreenshot", format="png")
        with open(file, "wb") as out:
            out.write(base64.b64decode(shot["data"]))
