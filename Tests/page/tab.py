"""What the checks of the page share: a tab that looks at a server's page, and what was seen there."""

import os
import pathlib
import sys
import threading
import time
import traceback

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "load"), str(HERE.parent / "player")]

from chromium import Chromium  # noqa: E402
from running import FIXTURES  # noqa: E402

MEDIA = FIXTURES / "media"
ROOT = HERE.parents[1]
PHONE, DESKTOP = (390, 844), (1280, 860)
FIRST = "[...document.querySelectorAll('.row.isActive .stage :is(img, video)')].some(one => one.complete || one.readyState > 1)"
STATE = "({index: lookaheadPage.view.index, figures: lookaheadPage.view.lanes.map(lane => lane.prefetcher.figures)})"

# What scrolls and neither has the focus nor anything that can have it.
UNREACHABLE = """[...document.querySelectorAll('*')].filter(one => one.checkVisibility()
  && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)
  && /auto|scroll/.test(getComputedStyle(one).overflow) && one.tabIndex < 0
  && ![...one.querySelectorAll('*')].some(inner => inner.tabIndex >= 0 && inner.checkVisibility()))
  .map(one => one.outerHTML.slice(0, 80))"""

failures = []


class Said(threading.local):
    """What the check that a thread runs has said so far, and what of it failed."""

    def __init__(self):
        self.lines, self.failures = [], []


said = Said()


def expect(holds, words):
    said.lines.append(f"{'ok  ' if holds else 'FAIL'} {words}")
    if not holds:
        said.failures.append(words)


def run(check, *arguments):
    """Runs a check, and prints together what it said, with its time: others run beside it.

    What fails is run once more, and both runs are printed: a browser on a machine with other work is at times slower
    than any wait allows. At night nothing is, so that what fails now and then is seen.
    """
    words = [check.__name__, *(one for one in arguments if one in ("phone", "desktop"))]
    attempts = 1 if os.environ.get("LOOKAHEAD_RUN_ONCE") else 2
    for attempt in range(1, attempts + 1):
        said.lines, said.failures, began = [], [], time.monotonic()
        try:
            check(*arguments)
        except Exception:  # noqa: BLE001: what ends one check does not end the others
            expect(False, f"{check.__name__} came to no end\n{traceback.format_exc()}")
        again = bool(said.failures) and attempt < attempts
        print(*said.lines, f"     {' '.join(words)} took {time.monotonic() - began:.0f} s{', and runs again' if again else ''}",
              sep="\n", flush=True)
        if not again:
            break
    failures.extend(said.failures)


class Tab(Chromium):
    """A browser that looks at the server's page, and writes down whatever went wrong."""

    def __init__(self, port, size=DESKTOP, dark=False, calm=False, before=""):
        super().__init__(*size)
        self.port, self.width, self.height, self.dark, self.calm, self.before = port, *size, dark, calm, before
        self.allowed = []

    def __enter__(self):
        super().__enter__()
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self.width, height=self.height,
                  deviceScaleFactor=1, mobile=self.width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if self.calm else "no-preference"}])
        if self.before:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=self.before)
        return self

    def open(self, path="/"):
        """Opens a page of the server, and waits until it is there."""
        self.call("Page.navigate", url=f"http://127.0.0.1:{self.port}{path}")
        self.wait("document.readyState == 'complete'")

    def wait(self, expression, within_seconds=60):
        """As every browser's; what does not become true in time is a failure, whoever asks."""
        value = super().wait(expression, within_seconds)
        if not value:
            expect(False, f"within {within_seconds} s this did not become true: {expression[:120]}")
        return value

    def key(self, key, text=None, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def troubles(self):
        """What of all that happened must not: errors, violations, requests elsewhere."""
        found, hosts = [], set()
        for event in self.events:
            what, about = event["method"], event["params"]
            if what == "Runtime.exceptionThrown":
                found.append(about["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif what == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
                found.append(str([one.get("value") for one in about["args"]]))
            elif what == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                found.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
            elif what == "Network.requestWillBeSent":
                url = about["request"]["url"]
                if url.startswith(("http:", "https:", "ws:")):
                    hosts.add(url.split("/")[2])
        found = [one for one in found if not any(allowed in one for allowed in self.allowed)]
        return found + [f"a request to {host}" for host in hosts - {f"127.0.0.1:{self.port}"}]

    def judge(self, name):
        self.evaluate("0")
        troubles = self.troubles()
        expect(not troubles, f"{name}: no errors, violations or requests elsewhere {troubles[:3] or ''}")
