"""Looks at the page in Chromium as people would: check_page.py PROGRAM FOLDER.

At the widths of a phone and of a desktop, light and dark, by keyboard, with reduced motion, without
`navigator.connection`, with texts that mean harm, with an empty database, with very many feeds. Nowhere may there be
an error in the console, a violation of the content security policy, or a request to another host. Loaders are
counted by the page and by the server, and have to be the same.

Screenshots are written to FOLDER. Prints what was seen; status 1 where something does not hold.
"""

import functools
import http.server
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "load")]

import check_desk  # noqa: E402
import firefox  # noqa: E402
from running import FIXTURES, TOKEN, RunningServer, wait_until  # noqa: E402
from tab import DESKTOP, FIRST, MEDIA, PHONE, ROOT, STATE, UNREACHABLE, Tab, expect, failures, run, said  # noqa: E402


def report(server, sessions):
    """Reports sessions on three networks with two policies, and waits until the server shows them."""
    page = json.loads(server.get("/rp/?feed=videos&limit=30")[2])
    clips = [item["id"] for item in page["items"] if item["media"][0].get("start")][:3]
    for session in range(sessions):
        # The slowest network has the most loaders, and one policy fewer of them, for more bytes.
        policy, is_ours = ("weighted-5", "ours")[session % 2], session % 2
        loaders = (9, 4, 1)[session % 3] + session % 5 - 4 * is_ours
        loaders = max(0, loaders)
        part = {
            "session": f"session-number-{session}", "part": 0, "feed": ("featured", "videos")[session % 7 == 0],
            "ageMs": 3_600_000 * (session // 6 % 6), "policy": policy, "network": {"downlink": (780, 2000, 20000)[session % 3], "rtt": 50},
            "since": 0, "until": 60000, "items": 60, "loaders": {"video": loaders},
            "waitMs": [[45 + session % 40 + each, 1] for each in range(loaders)], "frameMs": [[50 + session % 9, 60]],
            # Of one clip the first frame comes late now and then, not often enough to break its promise.
            "seen": [{"id": clip, "heldBytes": 10**6, "neededBytes": 10**6, "readyMs": 0, "watchedMs": 500 + 97 * session % 12_000,
                      "frameMs": 900 if session % 40 == place else 90} for place, clip in enumerate(clips)],
            "stalls": session % 2, "bytes": {"seen": 9_000_000, "left": 400_000, "neverReached": 300_000 * (session % 3 + 2 * is_ours), "otherVariant": 150_000,
                "cancelled": 90_000 * is_ours}}
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}/v1/reports", json.dumps(part).encode(),
                                         {"Content-Type": "text/plain"})
        assert urllib.request.urlopen(request).status == 202
    live = f"http://127.0.0.1:{server.port}/v1/live"
    assert wait_until(lambda: json.load(urllib.request.urlopen(live)).get("total", {}).get("sessions", 0) >= sessions, 60)


def counted_reports(server):
    """How many parts of reports the server has counted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as answer:
        found = re.search(r'^lookahead_reports_total\{outcome="counted"\} (\d+)$', answer.read().decode(), re.M)
    return int(found[1]) if found else 0


def check_live(server, folder):
    """What clients met, at three widths, light and dark; and that the page reports itself."""
    with Tab(server.port) as tab:
        tab.open("/#network=as-is&strategy=plain&beside=nothing")
        tab.wait(FIRST)
        tab.evaluate("document.getElementById('tab-live').click()")
        expect(tab.wait("/Fewer than 50 sessions/.test(document.getElementById('view-live').textContent)"),
               "of few sessions nothing is shown")
        tab.evaluate("document.getElementById('tab-feed').click()")
        tab.key("j", "j", 74)
        tab.wait("lookaheadPage.view.index == 1")
        tab.judge("before reports")
        # On a busy machine half a minute passes, and a part was sent before.
        before = counted_reports(server)
        tab.call("Page.navigate", url="about:blank")
        tab.wait("location.href == 'about:blank'")
        # Within the life of the browser: with its end a request that has not left yet is gone (and sent at the next visit).
        expect(wait_until(lambda: counted_reports(server) > before, 60), "the page reports its session when it is left")
    report(server, 400)
    for size, width in ((PHONE, "phone"), ((820, 1180), "tablet"), (DESKTOP, "desktop")):
        for dark in (False, True):
            name = f"{width}-{'dark' if dark else 'light'}"
            with Tab(server.port, size, dark) as tab:
                tab.open("/#network=as-is")
                tab.evaluate("document.getElementById('tab-live').click()")
                expect(tab.wait("document.querySelectorAll('#view-live .meter').length > 9"), f"{name}: what clients met is shown")
                expect(tab.evaluate("document.querySelectorAll('#view-live .columns i').length > 9"), f"{name}: waits are shown")
                expect(tab.evaluate("document.querySelectorAll('#view-live .timeline .dot').length > 4"), f"{name}: and hours")
                expect(tab.evaluate("document.querySelectorAll('#view-live .stack').length > 7"
                                    " && /Choose a feed/.test(document.getElementById('view-live').textContent)"), f"{name}: and the bill")
                expect(tab.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), f"{name}: and no wider than the screen")
                expect(tab.evaluate("[...document.querySelectorAll('#view-live .table')].every(one => one.scrollWidth <= one.clientWidth)"),
                       f"{name}: nor is a table")
                expect(tab.evaluate("[...document.querySelectorAll('#view-live tbody th')].every(one => one.clientWidth > 40)"),
                       f"{name}: names are read")
                expect(tab.evaluate("/How far clips are watched/.test(document.getElementById('view-live').textContent)"
                                    " && !/There are none/.test(document.getElementById('view-live').textContent)"),
                       f"{name}: what is learned, and files whose start came late")
                time.sleep(0.3)
                tab.screenshot(folder / f"{name}-live.png")
                tab.evaluate("document.getElementById('view-live').scrollTo(0, 1e6)")
                time.sleep(0.3)
                tab.screenshot(folder / f"{name}-live-learned.png")
                tab.evaluate("""(() => {
                  const feed = document.querySelectorAll('#view-live select')[1];
                  feed.value = 'featured';
                  feed.dispatchEvent(new Event('change'));
                })()""")
                expect(tab.wait("/avoids [0-9].* each for .* cost .* cents/.test(document.querySelector('#view-live .sentences')?.textContent)",
                                5), f"{name}: of one feed, what a loader avoided costs")
                expect(tab.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), f"{name}: still no wider than the screen")
                tab.evaluate("document.querySelector('#view-live .timeline').scrollIntoView()")
                time.sleep(0.3)
                tab.screenshot(folder / f"{name}-live-bill.png")
                tab.evaluate("document.getElementById('view-live').scrollTo(0, 1e6)")
                time.sleep(0.3)
                tab.screenshot(folder / f"{name}-live-below.png")
                tab.judge(f"live {name}")


def check_looks(server, folder, width):
    """Both colours; the time to the first picture."""
    size = {"phone": PHONE, "desktop": DESKTOP}[width]
    for dark in (False, True):
        name = f"{width}-{'dark' if dark else 'light'}"
        with Tab(server.port, size, dark) as tab:
            tab.open("/#network=as-is")
            taken = tab.wait(f"{FIRST} && performance.now()")
            expect(taken, f"{name}: the first picture after {taken and round(taken)} ms")
            tab.evaluate("lookaheadPage.choose({network: '3g'})")
            tab.wait(FIRST)
            tab.evaluate("document.getElementById('scroll').click()")
            tab.wait("lookaheadPage.view.index >= 3")
            time.sleep(0.5)
            tab.screenshot(folder / f"{name}-feed.png")
            tab.evaluate("document.getElementById('scroll').click()")
            expect(tab.evaluate(f"document.scrollingElement.scrollWidth <= {size[0]}"),
                   f"{name}: nothing is wider than the screen")
            if size == PHONE:
                tab.evaluate("document.getElementById('show-inspector').click()")
                time.sleep(0.5)
                tab.screenshot(folder / f"{name}-inspector.png")
            for view in ("server", "lab"):
                tab.evaluate(f"document.getElementById('tab-{view}').click()")
                tab.wait(f"!!document.querySelector('#view-{view} :is(.tiles, .cards) dd')")
                time.sleep(0.3)
                tab.screenshot(folder / f"{name}-{view}.png")
            expect(tab.wait("!!document.querySelector('iframe.report')"), f"{name}: the lab's report is shown")
            tab.evaluate("document.querySelector('iframe.report').scrollIntoView()")
            time.sleep(0.7)
            tab.screenshot(folder / f"{name}-report.png")
            tab.judge(name)


def check_clips(server):
    """A clip plays from its first bytes on, and goes on without a jump once all is there."""
    with Tab(server.port) as tab:
        tab.open("/#network=3g&strategy=ours&beside=nothing")
        shown = tab.wait("document.querySelector('.row.isActive video')?.currentTime > 0.2 "
                         "&& lookaheadPage.view.lanes[0].prefetcher.transfers.length")
        expect(shown, "a clip plays while the rest of it is on its way")
        is_whole = tab.wait("document.querySelector('.row.isActive video')?.loop")
        state = is_whole or tab.evaluate("""(({currentTime, duration, ended, readyState, error}, {store, active}) =>
          JSON.stringify([currentTime, duration, ended, readyState, error?.message,
            lookaheadPage.view.lanes[0].prefetcher.media(active).map(([file]) => [file.bytes, store.held(file.url).list])])
          )(document.querySelector('.row.isActive video'), lookaheadPage.view.lanes[0].prefetcher)""")
        expect(is_whole, f"and is whole later {'' if is_whole else state}")
        before = tab.evaluate("document.querySelector('.row.isActive video').currentTime")
        expect(before > 0.2, f"from where it was: {before:.2f} s")
        tab.evaluate("document.querySelector('.row.isActive').focus()")
        tab.key(" ", " ", 32)
        expect(tab.wait("document.querySelector('.row.isActive video').paused"), "space lets it rest")
        tab.key(" ", " ", 32)
        expect(tab.wait("!document.querySelector('.row.isActive video').paused"), "and play")
        tab.judge("clips")


def check_keyboard(server):
    with Tab(server.port) as tab:
        tab.open("/#network=as-is&strategy=plain&beside=nothing")
        tab.wait(FIRST)
        tab.key("Tab", code=9)
        expect(tab.evaluate("document.activeElement.className == 'skip'"), "the first stop is the skip link")
        tab.key("Enter", "\r", 13)
        expect(tab.evaluate("document.activeElement.id == 'feed'"), "which leads to the feed")
        for _ in range(3):
            tab.key("j", "j", 74)
        expect(tab.wait("lookaheadPage.view.index == 3"), "j goes on")
        expect(tab.wait("document.activeElement.matches('.row.isActive, #feed')"), "and takes the focus along")
        tab.key("k", "k", 75)
        tab.key("ArrowUp", code=38)
        expect(tab.wait("lookaheadPage.view.index == 1"), "k and the arrow go back")
        tab.key("End", code=35)
        last = tab.wait("lookaheadPage.view.index > 20 && lookaheadPage.view.index")
        expect(last, f"End goes to the last that is there: {last}")
        expect(tab.wait("lookaheadPage.view.lanes[0].prefetcher.feed.items.length == 40"), "and more comes")
        tab.key("Home", code=36)
        expect(tab.wait("lookaheadPage.view.index == 0"), "Home to the first")
        tab.evaluate("document.getElementById('tab-feed').focus()")
        tab.key("ArrowRight", code=39)
        expect(tab.evaluate("document.activeElement.id == 'tab-desk' && !document.getElementById('view-desk').hidden"),
               "arrows go through the tabs")
        tab.key("ArrowLeft", code=37)
        tab.evaluate("document.getElementById('choose-feed').focus()")
        tab.key("Enter", "\r", 13)
        expect(tab.wait("!!document.querySelector('dialog[open] li button')"), "Enter opens the choice of feeds")
        tab.key("Escape", code=27)
        expect(tab.wait("!document.querySelector('dialog[open]')"), "Escape closes it")
        expect(tab.evaluate("document.activeElement.id == 'choose-feed'"), "and the focus is where it was")
        unnamed = tab.evaluate("""[...document.querySelectorAll('button, select, input, img, video, canvas[role]')]
          .filter(one => one.checkVisibility() && one.tagName != 'CANVAS' && !one.closest('[aria-hidden]'))
          .filter(one => !(one.ariaLabel || one.textContent.trim() || one.labels?.length || one.alt !== undefined))
          .map(one => one.outerHTML)""")
        stuck = []
        for view in ("feed", "desk", "server", "live", "lab"):
            tab.evaluate(f"document.getElementById('tab-{view}').click()")
            tab.wait(f"document.getElementById('view-{view}').textContent.length > 100")
            stuck += tab.evaluate(UNREACHABLE)
        expect(not stuck, f"everything that scrolls can be scrolled by keyboard {stuck or ''}")
        expect(not unnamed, f"everything that can be used has a name {unnamed or ''}")
        tab.judge("keyboard")


def check_reduced_motion(server, folder):
    with Tab(server.port, PHONE, calm=True, before="delete Navigator.prototype.connection") as tab:
        tab.open("/#network=as-is&strategy=plain&beside=nothing")
        expect(tab.wait("!!document.querySelector('.row.isActive video')"), "without navigator.connection it works")
        time.sleep(1.5)
        expect(tab.evaluate("[...document.querySelectorAll('video')].every(one => one.paused)"),
               "with reduced motion no clip plays by itself")
        expect(tab.evaluate("document.getAnimations().filter(one => one.playState == 'running').length == 0"),
               "and nothing is animated")
        tab.evaluate("document.querySelector('.row.isActive .play').click()")
        expect(tab.wait("!document.querySelector('.row.isActive video').paused"), "but for who presses Play")
        tab.screenshot(folder / "phone-calm.png")
        tab.judge("reduced motion")


def figures_of(port):
    """The server's count: items and loaders of /v1/plan, by strategy."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    counted = {}
    for name, labels, value in re.findall(r"^lookahead_plan_(items|loaders)_total\{(.*)\} (\d+)$", text, re.M):
        strategy = re.search(r'strategy="([^"]*)"', labels)[1]
        entry = counted.setdefault(strategy, {"items": 0, "loaders": 0})
        entry[name] += int(value)
    return counted


# Starts to measure which share of the time the page's timers are late: a busy machine leaves it no time to load ahead.
LATENESS = """(() => {
  let last = performance.now();
  window.lateness = {late: 0, all: 0};
  setInterval(() => {
    const now = performance.now();
    lateness.late += Math.max(0, now - last - 60);
    lateness.all += now - last;
    last = now;
  }, 50);
})()"""


def check_counts(server):
    """The same walk with two strategies, counted by the page and by the server."""
    before = figures_of(server.port)
    with Tab(server.port) as tab:
        tab.open("/#network=3g&strategy=none&beside=ours")
        tab.wait(FIRST)
        tab.evaluate(LATENESS)
        tab.evaluate("document.getElementById('scroll').click()")
        tab.wait("lookaheadPage.view.index >= 25", 60)
        late = tab.evaluate("lateness.late / lateness.all")
        tab.evaluate("document.getElementById('scroll').click()")
        time.sleep(2)
        state = tab.evaluate(STATE)
        tab.judge("counts")
    after = figures_of(server.port)
    for strategy, figures in zip(("endless", "expected-wait"), state["figures"]):
        old = before.get(strategy, {"items": 0, "loaders": 0})
        server_count = [after[strategy][name] - old[name] for name in ("items", "loaders")]
        page_count = [figures["items"], figures["imageLoaders"] + figures["videoLoaders"]]
        expect(server_count == page_count,
               f"{strategy}: {page_count[1]} loaders at {page_count[0]} items by the page, "
               f"{server_count[1]} at {server_count[0]} by the server")
    loaders = [one["imageLoaders"] + one["videoLoaders"] for one in state["figures"]]
    words = f"{loaders[1]} to {loaders[0]}, timers late for {late:.0%} of the time"
    if late < 0.1:
        expect(loaders[1] * 3 < loaders[0], f"ours met far fewer: {words}")
    else:
        expect(loaders[1] <= loaders[0], f"ours met no more on a busy machine: {words}")


def check_module(server):
    """Pages by cursor, newer, around, and what comes after a ranking is over."""
    with Tab(server.port) as tab:
        tab.open("/v1/feeds")
        feed = "globalThis.feed ??= new (await import('/lookahead.js')).Feed('module', {limit: 10})"

        def run(body):
            return tab.evaluate(f"(async () => {{ {feed}; {body} }})()")

        ids = "feed.items.map(item => item.id)"

        def load(ranks):
            records = "".join(json.dumps({"id": f"m{number}", "type": "text", "text": "…",
                                          "feeds": [{"name": "module", "rank": rank}]}) + "\n"
                              for number, rank in ranks)
            file = server.database.parent / "module.ndjson"
            file.write_text(records)
            server.command("seed", "--kept-rankings", "1", "--kept-rankings-seconds", "0", str(file))
            order.update((f"m{number}", rank) for number, rank in ranks)
            expected = sorted(order, key=lambda one: (order[one], one))

            def is_seen():
                status, _, page = server.get("/v1/feeds/module/items?limit=100")
                return status == 200 and [item["id"] for item in json.loads(page)["items"]] == expected

            expect(wait_until(is_seen, 60), "the server has seen what was loaded")

        order = {}
        load([(number, number + 10) for number in range(40)])
        expect(run(f"await feed.refresh(); await feed.older(); return {ids}") == [f"m{number}" for number in range(20)],
               "two pages by cursor")
        expect(run("await feed.around('offset:25'); await feed.previous(); return feed.offset") < 20,
               "a window, and what lies above it")
        expect(run("return (await feed.refresh(), await feed.newer())") == [], "nothing newer")
        load([(99, 5)])
        expect(run(f"return (await feed.newer()).map(item => item.id)") == ["m99"], "what is newer comes above")
        load([(number, 100 - number) for number in range(10, 40)])
        load([(number, 200 + number * 7 % 30) for number in range(10, 40)])
        statuses = f"""const before = {ids}; const added = (await feed.older()).map(item => item.id);
          return [before.length, added.length, new Set({ids}).size, {ids}.length]"""
        before, added, different, length = run(statuses)
        expect(added > 0 and different == length == before + added,
               f"a cursor whose ranking is over goes on: {before} and {added}, each once")
        expect(run("""globalThis.heard = 0; globalThis.over = new AbortController(); await feed.refresh();
          feed.watch(() => { heard += 1 }, {signal: over.signal, pollMs: 100}); return heard""") == 0, "nothing is heard")
        time.sleep(0.5)
        expect(run("return heard") == 0, "as long as nothing is newer")
        load([(100, 4)])
        expect(tab.wait("heard == 1"), "an event is heard once")
        run("await feed.newer(); over.abort()")
        # Somebody on the way lets no events through: it is asked instead.
        tab.allowed.append("ERR_BLOCKED_BY_CLIENT")
        tab.call("Network.setBlockedURLs", urls=["*/events*"])
        run("heard = 0; feed.watch(() => { heard += 1 }, {pollMs: 100})")
        time.sleep(0.5)
        expect(run("return heard") == 0, "nothing is heard where no events come")
        load([(101, 3)])
        expect(tab.wait("heard > 0"), "and what is newer is asked for")
        expect(run("""const {Feed, LookaheadError} = await import('/lookahead.js');
          try { await new Feed('no such feed').refresh(); } catch (error) { return [error.status, error.type] }""")
               == [404, "unknown-feed"], "an error says its type")
        # As DrawTests has it: every client draws alike.
        expect(run("""const {armOf} = await import('/lookahead.js');
          return [...Array(64).keys()].filter((number) => armOf({salt: 'k3v9', shares: [900, 100]}, number) === 'b');""")
               == [8, 31, 54, 59, 62], "an arm is drawn")
        store = """const {RangeStore} = await import('/lookahead.js');
          const store = new RangeStore({limitBytes: 60000}); const url = '/media/first-ferry/0.mp4';
          const came = [];
          await store.load(url, 100, 200); await store.load(url, 150, 300, {onBytes: (from) => came.push(from)});
          const some = JSON.stringify([store.held(url).list, came]);
          await store.load(url, 250000, null).catch(() => 0);
          const none = store.held(url).count;
          await store.load(url, 0, 40000); const other = '/media/herring-gull-portrait/0.jpg';
          await store.load(other, 0, null); const blob = store.blob(other, 0, store.size(other));
          const whole = await (await fetch(other)).arrayBuffer();
          const same = new Uint8Array(await blob.arrayBuffer()).every((byte, at) => byte == new Uint8Array(whole)[at]);
          await store.load('/media/lighthouse-steps/0.jpg', 0, null);
          return [some, none, same && blob.size == whole.byteLength, store.held(url).count, store.heldBytes <= 60000]"""
        # 410: a server that has let go of a ranking says so, and the feed goes on from where it was.
        tab.allowed = ["416", "404", "410"]
        some, none, same, oldest, is_bounded = run(store)
        expect(some == "[[[100,300]],[200]]", f"what is here is not asked for again: {some}")
        expect(none == 200, "nothing is asked for past a file's end")
        expect(same and oldest == 0 and is_bounded, "files are whole, kept within the limit, and the oldest goes first")
        tab.judge("module")


def check_hostile(program, folder):
    """Texts that mean harm, and values that nobody expects."""
    evil = "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>"
    records = [
        {"id": evil, "type": "text", "title": evil, "text": evil * 20, "feeds": [{"name": evil, "rank": 1}],
         "author": {"id": "a", "name": "\u202egnorw\u0301" * 50}},
        {"id": "b", "type": "webapp", "title": "x" * 4000, "url": "javascript:window.pwned=1",
         "feeds": [{"name": evil, "rank": 2}]},
        {"id": "c/../?#%", "type": "image", "title": "🏳️‍🌈" * 500, "feeds": [{"name": evil, "rank": 3}],
         "media": [{"kind": "image", "url": "https://elsewhere.example/a.jpg"},
                   {"kind": "image", "url": "javascript:1"}, {"kind": "image", "url": "/media/none.jpg"}]},
        {"id": "d", "type": "video", "feeds": [{"name": evil, "rank": 4}],
         "media": [{"kind": "video", "url": "https://elsewhere.example/x.mp4", "bytes": 10**12, "durationMs": 0}]},
        {"id": "f", "type": "image", "title": "كتاب", "text": "שלום! (a)", "feeds": [{"name": evil, "rank": 0}],
         "author": {"id": "r", "name": "נועה (1)"}, "publishedAt": "2026-10-01T08:00:00Z",
         "media": [{"kind": "image", "url": "/media/herring-gull-portrait/0.jpg"}]},
        {"id": "e", "type": "carousel", "feeds": [{"name": evil, "rank": 5}], "publishedAt": "0001-01-01T00:00:00Z"},
    ]
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "evil.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        server = RunningServer(program, scratch, media=MEDIA)
        server.command("seed", str(file))
        with server, Tab(server.port) as tab:
            # A file that is not there is no error of the page's.
            tab.allowed = ["404"]
            tab.open("/#network=as-is&strategy=plain&beside=ours")
            tab.wait("lookaheadPage.view?.index == 0")
            left = tab.evaluate("""[...document.querySelectorAll('.row.isActive .caption > *')].map(one => {
              const range = document.createRange(); range.selectNodeContents(one);
              return Math.round(range.getBoundingClientRect().left - one.parentElement.getBoundingClientRect().left) })""")
            expect(len(left) == 3 and max(left) < 10, f"texts from right to left begin where the others do: {left}")
            said = tab.evaluate("[...document.querySelectorAll('.row.isActive .by bdi')].map(one => one.textContent)")
            expect(said[:2] == ["נועה (1)", "image"] and len(said) == 3, f"and are in order: {said}")
            for index in range(6):
                tab.evaluate(f"lookaheadPage.view.go({index}, false)")
                time.sleep(0.3)
            tab.screenshot(folder / "hostile.png")
            expect(tab.evaluate("lookaheadPage.view.index") == 5, "texts that mean harm can be scrolled")
            expect(tab.evaluate("window.pwned === undefined && !document.querySelector('#feed script, a[href^=\"javascript\"]')"),
                   "and do none")
            tab.evaluate("document.getElementById('tab-lab').click()")
            expect(tab.wait("document.getElementById('view-lab').textContent.includes('There was none yet.')"),
                   "without experiments the lab says how to find one")
            expect(tab.wait("document.getElementById('view-lab').textContent.includes('There is none.')"),
                   "where there is no report, how to get one is said")
            tab.evaluate("document.getElementById('tab-feed').click()")
            tab.evaluate("document.getElementById('choose-feed').click()")
            tab.wait("!!document.querySelector('dialog[open] li button')")
            tab.judge("hostile")


def check_story(program, folder):
    """What was tried and what came of it, in words; a suggestion is begun by its button."""
    def finding(a, b, mean, low, high, verdict, guards=()):
        return {"words": "", "verdict": verdict, "sessions": [52_000, 48_000], "loadersPer1000": [a, b], "percent": mean,
                "interval": [low, high], "bytesPerSession": [4_100_000, 4_300_000], "brokenGuards": guards, "sharesAreWrong": False}

    expected = {"loadersPer1000": [22.4, 14.1], "kilobytesPerItem": [80, 88]}
    history = [
        ("trial", None, "expected-wait:price=2500",
         [("started", 10, {}), ("ramped", 500, {}),
          ("applied", 0, {"reason": "it has fewer", "finding": finding(31.2, 18.4, -41, -48, -34, "better")})]),
        ("trial", None, "endless",
         [("started", 10, {}), ("rolledBack", 0, {"reason": "it broke a guard: bytes a session",
                                                  "finding": finding(18.4, 17.9, -3, -9, 4, "undecided", ["bytes a session"])})]),
        ("trial", None, "expected-wait:price=2500", [("kept", 0, {"reason": "r"})] * 6),
        ("holdout", "lte", "plain-5", [("started", 50, {"reason": "r"})]),
        ("trial", "3g", "expected-wait:price=<b>500", [("suggested", 0, {"reason": "lookahead tune", "expected": expected})]),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        server = RunningServer(program, scratch, "--experiment-seconds", "0", media=MEDIA)
        server.command("seed", "--fixtures", str(FIXTURES))
        database = sqlite3.connect(server.database)
        now = int(time.time())
        setting = {"strategy": "expected-wait", "parameters": {"price": 500}, "image_weight": 1, "video_weight": 2}
        for number, (kind, network, name, steps) in enumerate(history, 1):
            database.execute("INSERT INTO experiment VALUES (?, ?, 'featured', ?, ?, 's', 500, 5, 14)",
                             (number, kind, network, json.dumps({"name": name, **setting})))
            for index, (step, share, evidence) in enumerate(steps):
                at = now - 86_400 * (4 * (len(history) - number) + len(steps) - index)
                database.execute("INSERT INTO experiment_step (experiment_id, taken_at, kind, share_permille, evidence) VALUES (?, ?, ?, ?, ?)",
                                 (number, at * 1_000_000, step, share, json.dumps(evidence)))
        database.commit()
        database.close()
        found = pathlib.Path(scratch) / "better.json"
        found.write_text(json.dumps({"evidence": {
            "setting": "ours", "isOther": True, "judged": [{"setting": "plain-5", "loaders": 22.4}, {"setting": "ours", "loaders": 14.1}],
            "policy": {"name": "ours", "strategy": "expected-wait", "parameters": {"price": 500}, "weights": {"image": 1, "video": 2}}}}))
        server.command("lab", "apply", str(found), "--feed", "featured", "--network", "edge")
        lab = "document.getElementById('view-lab')"
        with server:
            for size, name in ((PHONE, "phone"), ((820, 1180), "tablet"), (DESKTOP, "desktop")):
                for dark in (False, True):
                    with Tab(server.port, size, dark) as tab:
                        tab.open()
                        tab.evaluate("document.getElementById('tab-lab').click()")
                        tab.wait(f"{lab}.textContent.includes('The lab suggests') && {lab}.textContent.includes('On EDGE')")
                        expect(tab.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), f"{name}: the story fits")
                        time.sleep(0.3)
                        tab.screenshot(folder / f"{name}-{'dark' if dark else 'light'}-story.png")
                        text = tab.evaluate(f"{lab}.textContent")
                        tab.judge(f"{name}: the story")
            text = text.replace("\u00a0", " ")
            for words in ("On EDGE: ours, since ", "The lab found it, in simulated sessions. Of 1000 items 14 had a loader instead of 22.",
                          "On LTE, Wi-Fi, DSL, Very bad network, 3G and 100 % loss: plain-5.", "Of 1000 items 18 had a loader instead of 31.", "6 cents more", "14 of 1000 items had a loader instead of 22, for 10 % more data",
                          "Nobody has it yet", "endless was tried and given up, whatever its loaders: it loads more than it may.", "A session loaded 4.3 MB instead of 4.1 MB.", "6 nights so far", "keep the policy of before, plain-5",
                          "Take it back", "price=<b>500"):
                expect(words in text, f"the story says: {words}")
            with Tab(server.port, DESKTOP) as tab:
                tab.allowed = ["401"]
                tab.open()
                tab.evaluate("document.getElementById('tab-lab').click()")
                button = "[...document.querySelectorAll('#view-lab button')].find(one => one.textContent == 'Try it')"
                tab.wait(f"!!{button}")
                tab.evaluate(f"{button}.click()")
                expect(tab.evaluate(f"{lab}.textContent.includes('takes a token')"), "without a token it asks for one")
                key = "document.querySelector('#view-lab input[type=password]')"
                for token, said_then in (("wrong-token", "That was refused"), (TOKEN, "Done.")):
                    tab.evaluate(f"{key}.value = '{token}'; {key}.dispatchEvent(new Event('input')); {button}.click()")
                    expect(tab.wait(f"{lab}.textContent.includes('{said_then}')"), f"with {token[:5]}…: {said_then}")
                expect(tab.wait(f"{lab}.textContent.includes('Being tried') && {lab}.textContent.includes('Too few sessions yet')"),
                       "one click begins what is suggested")


def check_empty(program, folder):
    """An empty database says how to fill it, and what is loaded then shows by itself."""
    with tempfile.TemporaryDirectory() as scratch:
        server = RunningServer(program, scratch, media=MEDIA)
        subprocess.run([program, "migrate", "up", "--database", str(server.database)], check=True, capture_output=True)
        with server, Tab(server.port) as tab:
            tab.open()
            said = tab.wait("document.getElementById('message').checkVisibility() "
                            "&& document.getElementById('message').textContent")
            expect(said and "lookahead seed" in said and "desk" in said, "an empty database: it says how to fill it")
            tab.screenshot(folder / "empty.png")
            server.command("seed", "--fixtures", str(FIXTURES))
            expect(tab.wait(FIRST), "what is loaded then shows by itself")
            tab.judge("empty")


def check_many_feeds(program):
    count = 100_000
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "many.ndjson"
        with open(file, "w") as out:
            for number in range(count):
                out.write(f'{{"id":"p{number}","type":"text","text":"{number}","feeds":[{{"name":"feed {number:06}"}}]}}\n')
        server = RunningServer(program, scratch)
        server.command("seed", str(file))
        with server, Tab(server.port, PHONE) as tab:
            # There is none that is called `featured`.
            tab.allowed = ["404"]
            tab.open()
            tab.wait("lookaheadPage.view?.index == 0")
            tab.evaluate("document.getElementById('choose-feed').click()")
            rows = tab.wait("document.querySelectorAll('#feeds li').length")
            note = tab.evaluate("document.querySelector('#feeds .note').textContent")
            expect(rows == 50 and note == f"{count:,} feeds", f"of {note}, {rows} are listed")
            tab.evaluate("[...document.querySelectorAll('#feeds button')].find(one => one.textContent == 'Further').click()")
            expect(tab.wait("document.querySelector('#feeds li').textContent.includes('feed 000050')"), "then further ones")
            tab.evaluate(f"document.querySelector('#feeds input').value = 'feed {count - 1:06}', "
                         "document.querySelector('#feeds form').requestSubmit()")
            expect(tab.wait(f"document.querySelector('.row.isActive')?.textContent.includes('{count - 1}')"), "or one by name")
            tab.judge("many feeds")


def check_change(server):
    """What is looked at is changed at the desk, and read again where it is shown."""
    with check_desk.Desk(server.port) as tab:
        tab.open("/#network=as-is&strategy=plain&beside=nothing")
        tab.wait(FIRST)
        title = tab.evaluate("document.querySelector('.row.isActive h2').textContent")
        tab.click("Change it at the desk")
        expect(tab.evaluate("document.querySelector('.gate').checkVisibility() && !document.querySelector('dialog.post').open"),
               "the desk asks for the token first")
        tab.open_desk()
        expect(tab.wait("document.querySelector('dialog.post').open && document.querySelector('dialog.post input').value") == title,
               "what is looked at is opened at the desk")
        tab.type("dialog.post [data-field=title]", "Another <b>title</b>")
        expect(tab.save(), "its title is changed")
        tab.evaluate("document.getElementById('tab-feed').click()")
        expect(tab.wait("document.querySelector('.row.isActive h2')?.textContent == 'Another <b>title</b>'"),
               "and shown, as the text that it is")
        tab.evaluate("document.getElementById('tab-desk').click()")
        tab.click("Undo")
        expect(tab.wait(f"{check_desk.BAR}.startsWith('Undone')"), "and undone")
        tab.evaluate("document.getElementById('tab-feed').click()")
        expect(tab.wait(f"document.querySelector('.row.isActive h2')?.textContent == {json.dumps(title)}"), "which is shown, too")
        tab.judge("change")


def check_first_sight(server):
    """Who opens the page sees within seconds what it is for: it scrolls by itself, once, until somebody touches it."""
    with Tab(server.port, calm=True) as tab:
        tab.open("/")
        tab.wait(FIRST)
        time.sleep(1.3)
        expect(tab.evaluate("lookaheadPage.view.index") == 0, "with reduced motion it does not scroll by itself")
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "no-preference"}])
        tab.call("Page.navigate", url="about:blank")
        tab.open("/")
        tab.wait("lookaheadPage.view?.index >= 2")
        tab.key("Shift", code=16)
        index = tab.evaluate("lookaheadPage.view.index")
        time.sleep(1.3)
        expect(tab.evaluate("lookaheadPage.view.index") == index, f"it scrolls by itself until a key is pressed: {index}")
        counted = tab.evaluate("[...document.querySelectorAll('#names small')].map(one => one.textContent)")
        expect(len(counted) == 2 and all(" posts" in one for one in counted), f"loaders are counted above each lane: {counted}")
        tab.judge("first sight")


def check_news(server):
    """What comes is told at once, without being asked for."""
    with Tab(server.port) as tab:
        tab.open("/#network=as-is&strategy=plain&beside=none")
        tab.wait(FIRST)
        time.sleep(0.5)
        expect(tab.evaluate("document.getElementById('fresh').hidden"), "nothing is newer")
        server.ask("PUT", "/v1/items/news", {"type": "text", "title": "News", "text": "…",
                                             "feeds": [{"name": "featured", "rank": 0}]}, token=TOKEN)
        start = time.monotonic()
        told = tab.wait("!document.getElementById('fresh').hidden")
        expect(told, f"what is newer is told after {time.monotonic() - start:.1f} s")
        tab.evaluate("document.getElementById('fresh').click()")
        shown = "document.querySelector('.row.isActive h2')?.textContent == 'News'"
        expect(tab.wait(shown), "and shown in both lanes")
        expect(tab.evaluate("lookaheadPage.view.lanes.every(lane => lane.prefetcher.feed.items[0].id == 'news')"),
               "at the top of each")
        listeners = server.metrics()["lookahead_event_listeners"]
        expect(listeners == 1, f"one listens: {listeners}")
        tab.judge("news")
    server.ask("DELETE", "/v1/items/news", token=TOKEN)


def check_deleted(server):
    """An item that somebody deletes leaves the list, and plans go on."""
    with Tab(server.port) as tab:
        tab.allowed = ["404"]
        tab.open("/#network=as-is&strategy=none&beside=nothing")
        tab.wait(FIRST)
        gone = tab.evaluate("lookaheadPage.view.lanes[0].prefetcher.feed.items[4].id")
        expect(server.ask("DELETE", f"/v1/items/{gone}", token=TOKEN)[0] == 204, f"{gone} is deleted")
        tab.evaluate("lookaheadPage.view.move(1)")
        known = f"lookaheadPage.view.lanes[0].prefetcher.feed.items.some(item => item.id == {json.dumps(gone)})"
        expect(tab.wait(f"!{known}"), "and leaves the list")
        expect(tab.evaluate("lookaheadPage.view.index") == 1, "what is looked at stays")
        planned = "new Promise(resolve => lookaheadPage.view.lanes[0].prefetcher.addEventListener('plan', () => resolve(1)))"
        tab.evaluate("setTimeout(() => lookaheadPage.view.move(1), 300), 0")
        expect(tab.evaluate(planned) == 1, "and plans go on")
        tab.judge("deleted")


def check_sample(server, folder):
    """The sample of docs/client.md, on a page of another origin."""
    text = (ROOT / "docs/client.md").read_text()
    sample = re.search(r"```html\n(.*?)```", text, re.S)[1]
    script = re.search(r"<script type=\"module\">\n(.*?)</script>", sample, re.S)[1]
    expect(len(script.strip().split("\n")) < 30, f"the sample has {len(script.strip().splitlines())} lines")
    place = folder / "sample"
    place.mkdir(exist_ok=True)
    (place / "index.html").write_text(
        "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'>"
        + sample.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{server.port}"))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(place)))
    threading.Thread(target=site.serve_forever, daemon=True).start()
    with Tab(site.server_port) as tab:
        tab.open("/index.html")
        expect(tab.wait("document.images.length >= 4"), "the sample shows pictures on a page of another origin")
        troubles = [one for one in tab.troubles() if not one.endswith(str(server.port))]
        expect(not troubles, f"the sample: no errors {troubles[:3] or ''}")
    site.shutdown()


def check_firefox(server, folder):
    """Another browser, without `navigator.connection` and with another media player."""
    if not firefox.program():
        said.lines.append("     skipped: there is no Firefox (Debian's firefox-esr)")
        return
    with firefox.Firefox(*DESKTOP) as tab:
        tab.open(server.url("/#network=3g&strategy=plain&beside=ours"))
        taken = tab.wait(f"{FIRST} && performance.now()")
        expect(taken, f"Firefox: the first picture after {taken and round(taken)} ms")
        clip = "document.querySelector('.row.isActive video')"
        expect(tab.wait(f"{clip}?.currentTime > 0.2"), "Firefox: a clip plays")
        expect(tab.wait(f"{clip}?.loop && {clip}.currentTime > 0.2"), "and goes on once all of it is here")
        tab.evaluate("document.getElementById('scroll').click()")
        expect(tab.wait("lookaheadPage.view.index >= 5"), "Firefox: it scrolls by itself")
        tab.evaluate("document.getElementById('scroll').click()")
        tab.screenshot(folder / "firefox-feed.png")
        for view in ("server", "lab"):
            tab.evaluate(f"document.getElementById('tab-{view}').click()")
            expect(tab.wait(f"!!document.querySelector('#view-{view} :is(.tiles, .cards) dd')"), f"Firefox: the tab {view}")
        tab.evaluate("document.getElementById('tab-feed').click()")
        server.ask("PUT", "/v1/items/firefox", {"type": "text", "title": "For Firefox", "text": "…",
                                                "feeds": [{"name": "featured", "rank": 0}]}, token=TOKEN)
        expect(tab.wait("!document.getElementById('fresh').hidden"), "Firefox: what is newer is told")
        server.ask("DELETE", "/v1/items/firefox", token=TOKEN)
        tab.evaluate(f"""(() => {{ document.getElementById('tab-desk').click();
          document.querySelector('.gate input').value = '{TOKEN}'; document.querySelector('.gate').requestSubmit() }})()""")
        expect(tab.wait("document.querySelectorAll('.posts li').length == 30"), "Firefox: the desk lists posts")
        title = tab.evaluate("document.querySelectorAll('.posts strong')[1].textContent")
        tab.evaluate("document.querySelectorAll('.posts .open')[1].click()")
        expect(tab.wait("/^It started/.test(document.querySelector('.preview .note').textContent)"), "Firefox: a post opens, and its preview starts")
        tab.evaluate("""(() => { const title = document.querySelector('dialog.post [data-field=title]');
          title.value = 'By Firefox'; title.dispatchEvent(new Event('input')); document.querySelector('dialog.post form').requestSubmit() })()""")
        expect(tab.wait("document.querySelectorAll('.posts strong')[1].textContent == 'By Firefox'"), "Firefox: it is changed")
        tab.screenshot(folder / "firefox-desk.png")
        tab.evaluate("document.querySelector('.bar-of-desk button').click()")
        expect(tab.wait(f"document.querySelectorAll('.posts strong')[1].textContent == {json.dumps(title)}"), "Firefox: and changed back")
        errors = tab.errors(server.url())
        expect(not errors, f"Firefox: no errors {errors[:3] or ''}")


def check_types():
    if not shutil.which("tsc"):
        said.lines.append("     skipped: there is no tsc to check the types (Debian's node-typescript)")
        return
    source = ROOT / "Sources/server/Page"
    done = subprocess.run(
        ["tsc", "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022", "--module", "es2022",
         "--moduleResolution", "node", "--lib", "es2022,dom,dom.iterable", str(source / "lookahead.js"),
         *map(str, sorted((source / "page").glob("*.js")))], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"the types hold {done.stdout[:500]}")


# What `script/test` looks at; the rest is for the night.
BY_DAY = (check_deleted, check_desk.check_desk, check_hostile, check_keyboard, check_looks, check_sample)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    run(check_types)
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "lab.html"
        subprocess.run([program, "lab", "report", "--without-grid", "--items", "100", "--repeats", "3", "--price", "500",
                        "--output", report], check=True, capture_output=True)
        first, second = pathlib.Path(scratch, "first"), pathlib.Path(scratch, "second")
        first.mkdir()
        server = RunningServer(program, first, "--lab-report", str(report), "--report-address-views", "0", media=MEDIA)
        server.command("seed", "--probe", "--media-root", str(MEDIA), "--fixtures", str(FIXTURES))
        shutil.copytree(first, second)
        beside = RunningServer(program, second, "--lab-report", str(report), media=MEDIA)
        with server, beside:
            if check_desk.IS_LONG:
                # By itself: a busy machine leaves a page no time to load ahead.
                run(check_counts, server)
            # Mostly they wait for a page: two at a time, each row with a server of its own.
            rows = [
                [(check_live, server, folder), (check_clips, server), (check_module, server), (check_deleted, server),
                 (check_news, server), (check_desk.check_desk, program, folder), (check_firefox, server, folder), (check_looks, server, folder, "desktop")],
                [(check_looks, beside, folder, "phone"), (check_keyboard, beside), (check_reduced_motion, beside, folder),
                 (check_change, beside), (check_first_sight, beside), (check_hostile, program, folder), (check_sample, beside, folder),
                 (check_story, program, folder), (check_empty, program, folder),
                 (check_many_feeds, program)],
            ]
            if not check_desk.IS_LONG:
                rows = [[check for check in row if check[0] in BY_DAY and "desktop" not in check] for row in rows]
            threads = [threading.Thread(target=lambda row=row: [run(*check) for check in row]) for row in rows]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    print(f"{len(failures)} failed", *failures, sep="\n     ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
