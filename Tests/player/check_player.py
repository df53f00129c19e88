"""Holds hints against those who play by them: check_player.py PROGRAM FOLDER.

1. A client that fetches exactly the plan of a page of Fixtures, and nothing else: ffmpeg decodes the first
   frame of each video from the bytes that it has, each in its place, and the images as a whole.
2. Chromium gets of each video just the bytes that the hint names, fetched in those ranges through a relay that
   writes down what passes, and shows its first frame. (By itself it does nothing before 32 KB are there: that
   is the size of its blocks.)
3. Chromium plays from the media route, and seeks.

Prints what was asked and answered; screenshots are written to FOLDER. Status 1 where something does not hold.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "load"), str(HERE.parents[1] / "Benchmarks")]

from chromium import Chromium  # noqa: E402
from page_relay import PageRelay  # noqa: E402
from running import FIXTURES, RunningServer  # noqa: E402
from starts import decoded, first_moment  # noqa: E402

MEDIA = FIXTURES / "media"
PAGE = """<!doctype html><meta charset=utf-8><style>body{margin:0;background:#111;color:#eee;font:16px sans-serif}
video{display:block;width:640px;height:360px;background:#400}</style><video id=v muted preload=auto></video>
<pre id=log></pre><script>
const said = [], v = document.getElementById('v');
function say(what) { said.push(what); document.getElementById('log').textContent = said.join('\\n'); }
function frames(_, data) { say('frame ' + data.mediaTime.toFixed(3)); v.requestVideoFrameCallback(frames); }
v.requestVideoFrameCallback(frames);
for (const name of ['loadedmetadata', 'loadeddata', 'playing', 'seeked', 'ended', 'error'])
  v.addEventListener(name, () => say(name + (name == 'error' ? ' ' + v.error.message : '')));
</script>"""

failures = []


def expect(holds, words):
    print(f"{'ok  ' if holds else 'FAIL'} {words}", flush=True)
    if not holds:
        failures.append(words)


def get(port, target, byte_range=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{target}")
    if byte_range:
        request.add_header("Range", f"bytes={byte_range[0]}-{byte_range[1]}")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, answer.read()


def page(port, target):
    return json.loads(get(port, target)[1])


def check_plans(server, folder):
    """Follows the plan of a page for each of its items as the active one, and judges what came."""
    checked = {"active": 0, "start": 0, "whole": 0}
    for feed, network in [("featured", "3g"), ("featured", "wifi"), ("featured", "edge"), ("videos", "3g")]:
        offset = 0
        while True:
            answer = page(server.port, f"/rp/?feed={feed}&network={network}&limit=10&offset={offset}")
            media = {one["id"]: one for item in answer["items"] for one in item.get("media", [])}
            follow(server, answer["prefetch"]["plan"], media, checked, folder)
            offset += 3
            if offset > 36 or len(answer["items"]) < 10:
                break
    expect(min(checked.values()) > 0, f"plans were followed to the letter: {checked}")


def follow(server, plan, media, checked, folder):
    fetched = {}
    for part in plan:
        one = media.get(part.get("media"))
        if not one or not one["url"].startswith("/media/"):
            continue
        status, body = get(server.port, one["url"], part.get("range"))
        first = part["range"][0] if part.get("range") else 0
        if len(body) != part["bytes"]:
            expect(False, f"{one['url']}: {len(body)} bytes, the plan says {part['bytes']}")
        fetched.setdefault(part["media"], (one, part["why"], []))[2].append((first, body))
    for one, why, pieces in fetched.values():
        file = MEDIA / one["url"].removeprefix("/media/")
        cut = folder / ("cut" + file.suffix)
        with cut.open("wb") as out:
            for first, body in pieces:
                out.seek(first)
                out.write(body)
        if one["kind"] == "video":
            holds = first_moment(decoded(file)) <= set(decoded(cut))
        else:
            holds = cut.read_bytes() == file.read_bytes() and decodes(cut)
        if not holds:
            expect(False, f"{one['url']} ({why}): what the plan fetched does not show it")
        checked[why] += 1


def decodes(file):
    """As ffmpeg has it, which draws no SVG and reads no animated WebP (Debian 12's)."""
    if file.suffix == ".svg" or file.suffix == ".webp" and b"ANIM" in file.read_bytes()[:64]:
        return True
    done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-xerror", "-i", file, "-frames:v", "1", "-f",
                           "null", "-"], capture_output=True, timeout=60)
    return done.returncode == 0


def check_first_frame(server, folder, item):
    """Chromium gets the bytes that the hint names, fetched in those ranges, each in its place, and no others."""
    one = video(server, item)
    start = one["start"]
    named = start.get("needed", [[0, start["headBytes"] - 1]])
    with PageRelay(server.port, PAGE) as relay, Chromium() as browser:
        open_page(relay, browser)
        browser.evaluate(f"""(async () => {{
          const bytes = new Uint8Array({named[-1][1] + 1});
          for (const [first, last] of {json.dumps(named)}) {{
            const answer = await fetch({json.dumps(one['url'])}, {{headers: {{Range: `bytes=${{first}}-${{last}}`}}}});
            bytes.set(new Uint8Array(await answer.arrayBuffer()), first);
          }}
          v.src = URL.createObjectURL(new Blob([bytes], {{type: {json.dumps(one['mimeType'])}}}));
        }})()""")
        shown = browser.wait("said.find(one => one.startsWith('frame'))", 10)
        passed = relay.passed(one["url"])
        expect(bool(shown) and passed == [[first, last + 1] for first, last in named],
               f"{one['url']}: {shown or 'no frame'} of bytes {passed} of {one['bytes']}, the hint names {named}")
        browser.screenshot(folder / f"{item}-first.png")
        tell(relay)


def check_playing(server, folder, item):
    """Chromium plays by itself, from the route, and seeks."""
    one = video(server, item)
    with PageRelay(server.port, PAGE) as relay, Chromium() as browser:
        open_page(relay, browser)
        browser.evaluate(f"v.src = {json.dumps(one['url'])}, v.play().then(() => 0)")
        expect(bool(browser.wait("v.currentTime > 0.7")), f"{one['url']}: it plays")
        aim = one["durationMs"] / 1000 * 0.9
        browser.evaluate(f"v.pause(), v.currentTime = {aim}, 0")
        landed = browser.wait(f"said.includes('seeked') && Math.abs(v.currentTime - {aim}) < 0.05 && v.currentTime")
        shown = browser.wait(f"said.findLast(one => one.startsWith('frame') && +one.slice(6) > {aim} - 0.2)")
        expect(bool(landed and shown), f"{one['url']}: it seeks to {aim:.3f} s and shows {shown}")
        browser.screenshot(folder / f"{item}-seek.png")
        tell(relay)


def video(server, item):
    return next(one for one in page(server.port, f"/v1/items/{item}")["media"] if one["kind"] == "video")


def open_page(relay, browser):
    browser.call("Page.navigate", url=f"http://127.0.0.1:{relay.port}/")
    browser.wait("document.readyState == 'complete' && typeof said == 'object'")


def tell(relay):
    for line in relay.log:
        print(f"     {line['at']:6.3f} s  GET {line['path']}  Range: {line['range']}  {line['status']} "
              f"{line['content_range'] or ''}  {line['sent']} bytes")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        server = RunningServer(program, scratch, media=MEDIA)
        server.command("seed", "--probe", "--media-root", str(MEDIA), "--fixtures", str(FIXTURES))
        with server:
            check_plans(server, scratch)
            # Not of those with tables behind: what lies between is not there, and Chromium takes it for damage.
            for item in ["first-ferry", "bread-at-five", "crab-rescue", "starlings-over-the-mill"]:
                check_first_frame(server, folder, item)
            for item in ["tin-whistle", "starlings-over-the-mill"]:
                check_playing(server, folder, item)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
