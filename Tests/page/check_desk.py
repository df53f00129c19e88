"""The desk, from an empty database to a feed with pictures and clips of one's own, made by hand in Chromium."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request

from running import TOKEN, RunningServer
from tab import DESKTOP, MEDIA, PHONE, UNREACHABLE, Tab, expect

TABLET = (820, 1180)
TITLES = "[...document.querySelectorAll('.posts strong')].map(one => one.textContent)"
BAR = "document.querySelector('.bar-of-desk').textContent"
POST = "document.querySelector('dialog.post')"
ALT = 1
IS_LONG = bool(os.environ.get("LOOKAHEAD_LONG_TESTS"))


class Desk(Tab):
    """A tab with hands: it clicks what has a name, types, drops files."""

    def click(self, words, within="document"):
        """Presses the button that is so called, and says whether there is one."""
        return self.evaluate(f"""(() => {{
          const button = [...{within}.querySelectorAll('button')].find(one => one.checkVisibility() && !one.disabled
            && (one.ariaLabel ?? one.textContent).startsWith({json.dumps(words)}));
          button?.click();
          return Boolean(button) }})()""")

    def type(self, selector, text):
        """Puts a text where the one before stood."""
        self.evaluate(f"""(() => {{ const input = document.querySelector({json.dumps(selector)});
          input.value = {json.dumps(text)}; input.dispatchEvent(new Event('input')); input.dispatchEvent(new Event('change')) }})()""")

    def drop(self, selector, *files):
        """Drops files onto the middle of an element."""
        x, y = self.middle(selector)
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data={
                "items": [], "files": [str(file) for file in files], "dragOperationsMask": 1})

    def middle(self, selector, index=0):
        return self.evaluate(f"""(() => {{ const {{x, y, width, height}} = document.querySelectorAll({json.dumps(selector)})[{index}]
          .getBoundingClientRect(); return [x + width / 2, y + Math.min(height, innerHeight) / 2] }})()""")

    def open_desk(self, token=TOKEN):
        self.evaluate("document.getElementById('tab-desk').click()")
        self.evaluate(f"document.querySelector('.gate input').value = {json.dumps(token)}, document.querySelector('.gate').requestSubmit()")

    def save(self):
        """Saves what the dialog has, and waits until it is closed."""
        self.click("Save", POST)
        return self.wait(f"!{POST}.open")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, **more)


def ask(server, method, path, document, content_type):
    request = urllib.request.Request(server.url(path), json.dumps(document).encode(), method=method, headers={
        "Authorization": f"Bearer {TOKEN}", "Content-Type": content_type})
    return urllib.request.urlopen(request, timeout=10).status


def shown(server):
    """The titles of the feed, as any client gets them."""
    return [item.get("title") for item in json.loads(server.get("/rp/?feed=harbour")[2])["items"]]


def check_desk(program, folder):
    with tempfile.TemporaryDirectory() as scratch:
        media = pathlib.Path(scratch) / "media"
        media.mkdir()
        server = RunningServer(program, scratch, media=media)
        subprocess.run([program, "migrate", "up", "--database", str(server.database)], check=True, capture_output=True)
        with server:
            with Desk(server.port) as tab:
                make_feed(tab)
                make_posts(tab, folder)
                move_posts(tab, server, folder)
                change_posts(tab, server, folder)
                make_smaller(tab, server)
                schedule_posts(tab, server)
                refuse_files(tab, pathlib.Path(scratch), folder)
                delete_posts(tab, server)
                if IS_LONG:
                    make_several(tab, server)
                tab.judge("desk")
            load_as_client(server)
            if IS_LONG:
                look(server, folder)
                cut_off(server, pathlib.Path(scratch), media)


def make_feed(tab):
    tab.open()
    tab.wait("document.getElementById('open-desk')?.checkVisibility()")
    expect(tab.click("Open the desk"), "an empty database leads to the desk")
    # No feed is called `featured`; the others are what is tried here.
    tab.allowed = ["404", "401", "412", "415", "422"]
    tab.open_desk("wrong")
    expect(tab.wait("/not the server/.test(document.querySelector('.gate .problem').textContent)"), "a wrong token is told")
    tab.open_desk()
    expect(tab.wait("document.querySelector('.bench').checkVisibility()"), "the token opens it")
    expect(tab.evaluate("sessionStorage.length") == 0, "and is kept nowhere")
    expect(tab.wait("document.querySelector('.first').checkVisibility()"), "an empty database says what to do first")
    tab.type(".side form input", "harbour")
    tab.click("Make a feed")
    expect(tab.wait("document.querySelector('.work h2').textContent == 'harbour' && document.querySelector('.work').checkVisibility()"),
           "a feed is made")
    tab.click("Title…")
    tab.wait("!!document.querySelector('dialog[open] input')")
    tab.type("dialog[open] input", "The harbour")
    tab.click("Save", "document.querySelector('dialog[open]')")
    expect(tab.wait("document.querySelector('.work h2').textContent == 'The harbour'"), "and named")


def make_posts(tab, folder):
    tab.drop(".bench", MEDIA / "storm-wall/0.mp4")
    expect(tab.wait(f"{POST}.open && !!document.querySelector('.files .mend')"),
           "a clip that is dropped becomes a post, and its tables at the end are told")
    expect(tab.evaluate("document.querySelector('dialog.post [data-field=type]').value") == "video", "its type follows from the file")
    tab.screenshot(folder / "desk-warning.png")
    tab.click("Move them to the front")
    expect(tab.wait("!document.querySelector('.files .mend') && !!document.querySelector('.files .curve')"), "and mended at once")
    tab.type("dialog.post [data-field=title]", "The storm")
    started = tab.wait("/^It started after .* with/.test(document.querySelector('.preview .note').textContent)"
                       " && document.querySelector('.preview .note').textContent")
    expect(started, f"the preview loads what starts it: {started}")
    expect(tab.save(), "the post is saved")
    for file, title in (("herring-gull-portrait/0.jpg", "A gull"), ("loom/0.mp4", "The loom"), ("first-ferry/0.mp4", "The ferry")):
        tab.click("New post")
        tab.wait(f"{POST}.open")
        tab.drop("dialog.post", MEDIA / file)
        tab.wait("document.querySelector('.files li .note')?.textContent.includes('KB') && !document.querySelector('.files progress')")
        tab.type("dialog.post [data-field=title]", title)
        tab.type('dialog.post [data-field="media[0].alt"]', f"{title}, as it is")
        tab.save()
    expect(tab.wait(f"({TITLES}).length == 4 && {TITLES}") == ["The ferry", "The loom", "A gull", "The storm"],
           "each new one is at the top")
    expect(tab.wait("document.querySelectorAll('.posts .thumb canvas').length == 4"), "with its placeholder")
    heading, current = "document.querySelector('.work h2').textContent", "document.querySelector('.feeds [aria-current] strong').textContent"
    expect(tab.evaluate("document.querySelector('.filter').checkVisibility()"), "now there is something to look for")
    tab.click("All posts")
    expect(tab.wait(f"{heading} == 'All posts' && {current} == 'All posts' && !document.querySelector('.posts .handle')"),
           "the posts of all feeds are listed")
    tab.click("The harbour")
    expect(tab.wait(f"{heading} == 'The harbour' && {current} == 'The harbour' && document.querySelectorAll('.posts .handle').length == 4"),
           "and those of one again")


def move_posts(tab, server, folder):
    tab.evaluate("document.querySelector('.posts .handle').focus()")
    for _ in range(2):
        for kind in ("keyDown", "keyUp"):
            tab.call("Input.dispatchKeyEvent", type=kind, key="ArrowDown", windowsVirtualKeyCode=40, modifiers=ALT)
    expect(tab.evaluate(BAR).startswith("The ferry: 3 of 4."), "Alt and the arrows move a post, and say where it is")
    expect(tab.wait(f"{BAR}.startsWith('Moved')"), "the move is written")
    expect(shown(server) == ["The loom", "A gull", "The ferry", "The storm"], "and seen by readers")
    expect(tab.evaluate("document.activeElement.matches('.posts li:nth-child(3) .handle')"), "the focus goes along")
    (x, y), (_, top) = tab.middle(".posts .handle", 3), tab.middle(".posts .handle", 0)
    tab.mouse("mousePressed", x, y, clickCount=1)
    for step in range(1, 9):
        tab.mouse("mouseMoved", x, y + (top - 8 - y) * step / 8)
    tab.screenshot(folder / "desk-drag.png")
    tab.mouse("mouseReleased", x, top - 8, clickCount=1)
    expect(tab.wait(f"{BAR}.startsWith('Moved “The storm”')"), "a post is dragged")
    expect(shown(server) == ["The storm", "The loom", "A gull", "The ferry"], "to the top")
    if not tab.evaluate("document.querySelector('.filter input[type=search]').hidden"):
        tab.type(".filter input[type=search]", "gull")
        expect(tab.wait(f"({TITLES}).length == 1 && {TITLES}") == ["A gull"], "posts are searched")
        tab.type(".filter input[type=search]", "")
        tab.wait(f"({TITLES}).length == 4")
    tab.click("Undo")
    expect(tab.wait(f"{BAR}.startsWith('Undone')") and shown(server) == ["The loom", "A gull", "The ferry", "The storm"],
           "and taken back")


def change_posts(tab, server, folder):
    tab.evaluate("document.querySelector('.posts .open').click()")
    tab.wait(f"{POST}.open")
    identifier = tab.evaluate("document.querySelector('.posts li').dataset.id")
    ask(server, "PATCH", f"/v1/items/{identifier}", {"title": "Theirs", "text": "Their text"}, "application/merge-patch+json")
    tab.type("dialog.post [data-field=title]", "Mine")
    tab.type("dialog.post [data-field=tags]", "harbour, weaving")
    tab.click("Save", POST)
    expect(tab.wait("document.querySelector('.conflict')?.checkVisibility()"), "a change by somebody else is told")
    rows = tab.evaluate("""[...document.querySelectorAll('.conflict tbody tr')].map(row => [row.cells[0].textContent,
      row.cells[1].textContent, row.cells[2].textContent, [...row.querySelectorAll('input')].findIndex(one => one.checked)])""")
    expect(["title", "Mine", "Theirs", 0] in rows and ["text", "(nothing)", "Their text", 1] in rows, f"both versions side by side: {rows}")
    tab.screenshot(folder / "desk-conflict.png")
    tab.click("Save with these", POST)
    tab.wait(f"!{POST}.open")
    record = json.loads(server.get(f"/v1/items/{identifier}/record")[2])
    expect([record.get(name) for name in ("title", "text", "tags")] == ["Mine", "Their text", ["harbour", "weaving"]],
           "and what each changed alone is kept")
    expect(record["media"][0]["alt"] == "The loom, as it is", "what nobody touched stays")
    # A like that comes in meanwhile is no conflict.
    tab.evaluate("document.querySelector('.posts .open').click()")
    tab.wait(f"{POST}.open")
    ask(server, "POST", f"/v1/items/{identifier}/counters", {"likes": 1}, "application/json")
    tab.type("dialog.post [data-field=title]", "The loom, again")
    expect(tab.save() and json.loads(server.get(f"/v1/items/{identifier}/record")[2])["counters"] == {"likes": 1}, "a like is no conflict")
    # As JSON, with an error where it is.
    tab.evaluate("document.querySelector('.posts .open').click()")
    tab.wait(f"{POST}.open")
    tab.click("As JSON", POST)
    text = tab.evaluate("document.querySelector('.json').value")
    tab.type(".json", text.replace('"likes"', '"li kes"').replace('"type": "video"', '"type": "film"'))
    tab.click("Save", POST)
    expect(tab.wait("/film/.test(document.querySelector('dialog.post .note[role=status]').textContent)"), "the server's words are shown")
    expect(tab.evaluate("(one => one.value.slice(one.selectionStart, one.selectionEnd))(document.querySelector('.json'))") == '"type"',
           "at the field")
    tab.type(".json", json.dumps({**json.loads(text), "extra": {"camera": "own"}}))
    expect(tab.save() and json.loads(server.get(f"/v1/items/{identifier}/record")[2])["extra"] == {"camera": "own"}, "and mended as JSON")


def make_smaller(tab, server):
    """Smaller versions of a picture, or a word on why there are none."""
    tab.evaluate("document.querySelectorAll('.posts .open')[1].click()")
    tab.wait(f"{POST}.open")
    about = "document.querySelector('.files .about').textContent"
    if not shutil.which("ffmpeg"):
        expect(tab.wait(f"/cannot be made: .*ffmpeg/.test({about})"), "without ffmpeg the desk says why nothing smaller is made")
        tab.click("Cancel", POST)
        return
    expect(tab.wait("[...document.querySelectorAll('.files button')].some(one => one.textContent == 'Make smaller versions')")
           and tab.click("Make smaller versions", POST), "smaller versions are asked for")
    expect(tab.wait(f"/Smaller versions of it are there: 1/.test({about})", 60), "and made")
    tab.click("Cancel", POST)
    item = json.loads(server.get("/rp/?feed=harbour")[2])["items"][1]
    expect(len(item["media"][0].get("variants", [])) == 1, "pages have them")


def refuse_files(tab, scratch, folder):
    """Files that the server does not take are named where one looks, and go at once; the others stay."""
    hostile = [scratch / "menu.pdf", scratch / "empty.jpg"]
    for file, content in zip(hostile, (b"%PDF-1.4", b"")):
        file.write_bytes(content)
    tab.drop(".bench", *hostile, MEDIA / "loom/0.mp4")
    tab.wait(f"{POST}.open && document.querySelectorAll('.files .problem').length == 2 && !document.querySelector('.files progress')"
             " && !!document.querySelector('.files .curve')")
    tab.evaluate("document.querySelector('dialog.post').scrollTop = 0")
    tab.click("Save", POST)
    note = "document.querySelector('.foot .note')"
    expect(tab.wait(f"/“menu.pdf”, “empty.jpg” are not on the server/.test({note}.textContent)"), "what is not on the server is named")
    expect(tab.evaluate(f"(({{top, bottom}}) => top >= 0 && bottom <= innerHeight)({note}.getBoundingClientRect())"), "where one looks")
    tab.screenshot(folder / "desk-refused.png")
    expect(tab.click("Take out the 2 files", POST) and tab.evaluate("document.querySelectorAll('.files li').length") == 1,
           "what is refused is taken out at once")
    tab.click("Cancel", POST)
    tab.click("Cancel", POST)
    tab.wait(f"!{POST}.open")


def schedule_posts(tab, server):
    def set_moment(value):
        tab.evaluate("document.querySelectorAll('.posts .open')[0].click()")
        tab.wait(f"{POST}.open")
        tab.type("dialog.post [data-field=visibleFrom]", value)
        return tab.save()

    def choose(value):
        tab.type(".filter select[aria-label='Which posts']", value)

    before = tab.evaluate(TITLES)
    expect(set_moment("2199-05-01T06:00:00") and tab.wait(f"({TITLES}).length == 3"), "a post that is to come leaves the feed")
    choose("scheduled")
    expect(tab.wait(f"({TITLES}).length == 1 && {TITLES}") == before[:1], "and is listed among those to come")
    expect(tab.evaluate("document.querySelector('.posts .moments').textContent").startswith(", appears "), "with its moment")
    expect(set_moment("") and tab.wait(f"({TITLES}).length == 0"), "without a moment it is there at once")
    choose("")
    expect(tab.wait(f"({TITLES}).length == 4 && {TITLES}") == before and shown(server) == before, "in its place")


def delete_posts(tab, server):
    # Somebody else deletes what is edited.
    tab.evaluate("document.querySelectorAll('.posts .open')[1].click()")
    tab.wait(f"{POST}.open")
    identifier = tab.evaluate("document.querySelectorAll('.posts li')[1].dataset.id")
    server.ask("DELETE", f"/v1/items/{identifier}", token=TOKEN)
    tab.type("dialog.post [data-field=title]", "A gull")
    tab.type("dialog.post [data-field=text]", "It is back.")
    tab.click("Save", POST)
    expect(tab.wait("/deleted this post/.test(document.querySelector('dialog.post .note[role=status]').textContent)"), "a post that somebody deleted is told")
    expect(tab.save() and tab.wait(f"({TITLES}).length == 4 && {BAR}.startsWith('“A gull”')") and len(shown(server)) == 4, "and made again")
    for _ in range(2):
        count = tab.evaluate(f"({TITLES}).length")
        tab.click("Delete The" if count == 4 else "Delete A gull")
        tab.wait(f"({TITLES}).length == {count - 1}")
    expect(shown(server) == ["The ferry", "The storm"], f"posts are deleted: {shown(server)}")
    for count in (3, 4):
        tab.click("Undo")
        tab.wait(f"({TITLES}).length == {count} && {BAR}.startsWith('Undone')")
    expect(shown(server) == ["The loom, again", "A gull", "The ferry", "The storm"], f"and taken back, to their places: {shown(server)}, {tab.evaluate(BAR)}")
    tab.click("Delete…")
    expect(tab.wait("document.querySelector('dialog[open] .main')?.textContent == 'Delete it, with 4 posts in it'"),
           "deleting the feed says how many posts it has")
    tab.click("Cancel", "document.querySelector('dialog[open]')")
    tab.click("Show it")
    expect(tab.wait("document.querySelector('.row.isActive h2')?.textContent == 'The loom, again'"), "the feed's page shows it")


def make_several(tab, server):
    """Many files at once: a post of each."""
    tab.evaluate("document.getElementById('tab-desk').click()")
    tab.drop(".bench", MEDIA / "loom/0.mp4", MEDIA / "herring-gull-portrait/0.jpg")
    tab.wait("document.querySelectorAll('.files li .note').length >= 2 && !document.querySelector('.files progress')")
    tab.evaluate("document.querySelector('dialog.post .fields .check input').click()")
    expect(tab.save() and tab.wait(f"{BAR}.startsWith('2 posts are made')"), "several files become a post each")
    expect(tab.wait(f"{TITLES}[0] == 'Untitled video' && {TITLES}[1] == 'Untitled image'"), f"without a title each: {tab.evaluate(TITLES)}")
    kinds = [item["type"] for item in json.loads(server.get("/rp/?feed=harbour")[2])["items"]]
    expect(kinds[:2] == ["video", "image"] and len(kinds) == 6, f"in their order: {kinds}")
    tab.click("Undo")
    expect(tab.wait(f"{BAR}.startsWith('Undone') && ({TITLES}).length == 4") and len(shown(server)) == 4, "and are taken back together")


def load_as_client(server):
    """What a phone loads of the clip that comes next is what its hint says: from the first byte to the last that starts it."""
    items = json.loads(server.get("/rp/?feed=harbour&network=3g")[2])["items"]
    clips = {item["media"][0]["url"]: item["prefetch"]["minimumBytes"] for item in items[1:] if item["type"] == "video"}
    with Tab(server.port) as tab:
        tab.open("/#feed=harbour&network=3g&strategy=plain&beside=nothing")
        found, until = {}, time.monotonic() + 60
        while len(found) < len(clips) and time.monotonic() < until:
            time.sleep(0.1)
            tab.evaluate("0")
            for event in list(tab.events):
                if event["method"] == "Network.requestWillBeSent":
                    request = event["params"]["request"]
                    path = "/" + request["url"].split("/", 3)[3]
                    if path in clips:
                        found.setdefault(path, request["headers"].get("Range"))
        expect(clips and found == {path: f"bytes=0-{count - 1}" for path, count in clips.items()},
               f"a client starts from exactly the hinted bytes: {sorted(found.values(), key=str)}")
        tab.judge("client")


def cut_off(server, scratch, media):
    """The server is killed twice while a file is sent: it goes on by itself from what is there."""
    large = scratch / "large.mp4"
    large.write_bytes((MEDIA / "first-ferry/0.mp4").read_bytes() + os.urandom(20 << 20))
    sent = "document.querySelector('.files progress')?.value"
    lost = "/connection is lost/.test(document.querySelector('.files .about')?.textContent)"
    with Desk(server.port) as tab:
        tab.allowed = ["ERR_CONNECTION", "ERR_EMPTY", "ERR_INCOMPLETE", "ERR_SOCKET"]
        tab.open("/#feed=harbour&network=as-is")
        tab.open_desk()
        tab.wait("document.querySelectorAll('.posts li').length == 4")
        speed = {"offline": False, "latency": 0, "downloadThroughput": -1}
        tab.call("Network.emulateNetworkConditions", uploadThroughput=3_000_000, **speed)
        tab.drop(".bench", large)
        reached = 0
        for _ in range(2):
            reached = tab.wait(f"!{lost} && {sent} > {reached} + 1e6 && {sent}")
            server.kill()
            expect(reached and tab.wait(lost), f"a server that is killed after {reached} bytes of a file is told")
            server.start()
        tab.call("Network.emulateNetworkConditions", uploadThroughput=-1, **speed)
        expect(tab.wait("document.querySelector('.files .note')?.textContent.includes('first picture')", 60), "it goes on by itself")
        # A note of the upload stays for a client that did not get the answer.
        expect(all(file.stat().st_size < 4096 for file in media.rglob(".uploads/*") if file.is_file()), "and nothing is left beside the file")
        tab.evaluate("0")
        offsets = [int(request["headers"]["Upload-Offset"]) for request in (
            event["params"]["request"] for event in tab.events if event["method"] == "Network.requestWillBeSent")
            if "Upload-Offset" in request["headers"]]
        expect(len(offsets) >= 3 and offsets[0] == 0 and offsets == sorted(offsets) and offsets[-1] > 1e6, f"from what is there: {offsets}")
        expect(tab.save(), "into a post")
        tab.judge("cut off")


def look(server, folder):
    """Three sizes, light and dark, in one tab."""
    with Desk(server.port) as tab:
        tab.open("/#feed=harbour&network=as-is")
        tab.evaluate("document.querySelector('.gate [type=checkbox]').checked = true")
        tab.open_desk()
        tab.wait("document.querySelectorAll('.posts li').length == 4")
        tab.call("Page.reload")
        time.sleep(0.5)
        tab.wait("document.readyState == 'complete' && globalThis.lookaheadPage")
        tab.evaluate("document.getElementById('tab-desk').click()")
        expect(tab.wait("document.querySelectorAll('.posts li').length == 4"), "the tab keeps the token, if asked")
        tab.wait("document.querySelectorAll('.posts .thumb canvas').length == 4")
        for (width, height), name in ((PHONE, "phone"), (TABLET, "tablet"), (DESKTOP, "desktop")):
            tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
            for scheme in ("light", "dark"):
                tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                tab.screenshot(folder / f"{name}-{scheme}-desk.png")
                expect(tab.evaluate(f"document.scrollingElement.scrollWidth <= {width}"), f"{name} {scheme}: the desk is no wider than the screen")
                tab.evaluate("document.querySelectorAll('.posts .open')[2].click()")
                tab.wait(f"{POST}.open && /started/.test(document.querySelector('.preview .note').textContent)")
                tab.screenshot(folder / f"{name}-{scheme}-post.png")
                expect(tab.evaluate(f"{POST}.scrollWidth <= {POST}.clientWidth"), f"{name} {scheme}: nor is a post")
                stuck = tab.evaluate(UNREACHABLE)
                expect(not stuck, f"{name} {scheme}: everything that scrolls can be scrolled by keyboard {stuck or ''}")
                tab.click("Cancel", POST)
        unnamed = tab.evaluate("""[...document.querySelectorAll('#view-desk :is(button, select, input, textarea)')]
          .filter(one => !one.hidden).filter(one => !(one.ariaLabel || one.textContent.trim() || one.labels?.length)).map(one => one.outerHTML.slice(0, 90))""")
        expect(not unnamed, f"everything at the desk has a name {unnamed or ''}")
        tab.click("Forget the token")
        expect(tab.evaluate("sessionStorage.length == 0 && document.querySelector('.gate').checkVisibility()"), "and forgets it")
        tab.judge("desk looks")
