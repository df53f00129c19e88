"""A headless Firefox, driven by its own protocol for that, Marionette: messages of JSON over a local connection."""

import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from ports import free_port

# It asks nobody for anything by itself, and plays clips that nobody has clicked at.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.security.https_only_mode": False,
    "extensions.update.enabled": False,
    "media.autoplay.default": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


def program():
    """Where it is; None where there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One window; use it with `with`."""

    def __init__(self, width=1280, height=860):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firefox-"))
        self.size = (width, height)
        self.number = 0
        self.received = b""

    def __enter__(self):
        port = free_port()
        preferences = {**PREFERENCES, "marionette.port": port}
        (self.folder / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        self.process = subprocess.Popen(
            [program(), "--headless", "--no-remote", "--marionette", "--remote-allow-system-access",
             "--profile", str(self.folder), "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "HOME": str(self.folder), "MOZ_HEADLESS_WIDTH": str(self.size[0]),
                 "MOZ_HEADLESS_HEIGHT": str(self.size[1])})
        self.connection = self._connect(port, time.monotonic() + 60)
        self._read()
        self.call("WebDriver:NewSession", strictFileInteractability=True)
        self.call("WebDriver:SetWindowRect", x=0, y=0, width=self.size[0], height=self.size[1])
        return self

    def _connect(self, port, deadline):
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=60)
                return connection
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    def __exit__(self, *_):
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(timeout=15)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self):
        """The next message: its length, a colon, and JSON."""
        while True:
            length, colon, rest = self.received.partition(b":")
            if colon and len(rest) >= int(length):
                self.received = rest[int(length):]
                return json.loads(rest[:int(length)])
            piece = self.connection.recv(65536)
            if not piece:
                raise RuntimeError("Firefox has closed the connection")
            self.received += piece

    def call(self, method, **parameters):
        """What a command gives; RuntimeError where it fails."""
        self.number += 1
        text = json.dumps([0, self.number, method, parameters]).encode()
        self.connection.sendall(str(len(text)).encode() + b":" + text)
        while True:
            kind, number, error, value = self._read()
            if kind == 1 and number == self.number:
                if error:
                    raise RuntimeError(f"{method}: {error['error']}: {error['message']}")
                return value

    def open(self, url):
        self.call("WebDriver:Navigate", url=url)

    def evaluate(self, expression):
        """The value of an expression in the page."""
        return self.call("WebDriver:ExecuteScript", script=f"return ({expression})", args=[], sandbox=None)["value"]

    def wait(self, expression, within_seconds=60):
        """The expression's value once it is true; what it is then where it does not become so in time."""
        end = time.monotonic() + within_seconds
        while True:
            value = self.evaluate(expression)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.1)

    def screenshot(self, file):
        picture = self.call("WebDriver:TakeScreenshot", full=False)["value"]
        pathlib.Path(file).write_bytes(base64.b64decode(picture))

    def errors(self, place):
        """What the browser's console has of errors of pages below this URL, violations of their policy among them."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            script = """return Services.console.getMessageArray()
              .filter(one => one instanceof Ci.nsIScriptError && !(one.flags & Ci.nsIScriptError.warningFlag)
                && one.sourceName.startsWith(arguments[0]))
              .map(one => one.errorMessage)"""
            return self.call("WebDriver:ExecuteScript", script=script, args=[place])["value"]
        finally:
            self.call("Marionette:SetContext", value="content")
