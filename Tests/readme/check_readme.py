#!/usr/bin/env python3
"""README.md, typed in order by somebody who has a clone and an empty folder: check_readme.py PROGRAM.

Every command of every block of `sh` runs in one shell, against the program that is named; blocks of `sh run` in
docs/*.md run after them. docs/tutorial.md and docs/first-feed.md are typed by others, each into a folder of its own. A command has to end with status 0, or with the one that EXPECTED has, and to say what is
expected there. What cannot run here stands in NOT_HERE, with the reason. A table whose line fits no command any more
is an error.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "load")]

import blocks  # noqa: E402
from ports import free_port  # noqa: E402
from running import environment, wait_until  # noqa: E402

NOT_HERE = {
    "script/test": "this runs within it",
    "docker ": "docker/test follows docker/README.md",
    "script/package": "docker/test-package builds and installs it",
    "swift build": "the program is built already",
    "python3 -m http.server": "it has no end, and the page is for a browser",
    "sudo ": "docker/test-package does that",
    "https://example.com/": "another host",
    "--allow-host media.example.org": "another host",
}

# Smaller than in life, so that all of it takes seconds.
SMALLER = [
    ("--generate 100000", "--generate 1000"), ("--items 1000 --pace 1s", "--items 5 --pace 100ms"),
    ("--feed featured --strategy weighted:leading=5,maxCost=3 --json",
     "--feed featured --strategy weighted:leading=5,maxCost=3 --json --items 5 --pace 100ms"),
    ("--repeats 200", "--repeats 4"), ("--precision 5", "--precision 500"),
    ("lab report ", "lab report --without-grid "), ("--speed 4", "--speed 50"),
    ("lab sweep --max-cost", "lab sweep --video-cost 2 --image-cost 1 --max-cost"),
    ("lab sweep --search --price 500,1500,5000", "lab sweep --search --max-cost 3 --video-cost 2 --image-cost 1 --price 500"),
    ("lab sweep --feed", "lab sweep --max-cost 3,5 --video-cost 2 --image-cost 1 --feed"),
]
SMALL = {"LOOKAHEAD_ITEMS": "20", "LOOKAHEAD_REPEATS": "2"}


def page(count):
    """A page of this many items, of which each has a hint."""
    return lambda said: len(items := json.loads(said)["items"]) == count and all("prefetch" in one for one in items)


def lines(*patterns):
    """Each line is as the pattern says."""
    def holds(said):
        found = said.splitlines()
        return len(found) == len(patterns) and all(map(re.fullmatch, patterns, found))
    return holds


def holds(pattern):
    return lambda said: re.search(pattern, said) is not None


def count(number):
    return lambda said: len(said.splitlines()) == number


def plan(network, condition=lambda parts: True):
    def holds(said):
        prefetch = json.loads(said)
        return prefetch["network"] == network and condition(prefetch["plan"])
    return holds


# What the commands say, by a part of their text; the status is 0 where no other ones stand in front.
EXPECTED = {
    "jq '.items[0], .paging, .prefetch'": holds(r'"id": "first-ferry"[^$]*"newer": "[^$]*"policy": "plain-5"'),
    "jq '.paging.offset, .paging.links.prev'": lines("10", r'"/rp/\?feed=featured&limit=10&before=.*"'),
    "before=$newer\" | jq '.items | length'": lines("0"),
    "around=offset:20": lambda said: len(json.loads(said)) == 7,
    "network=wifi' | jq": plan("wifi"),
    "budget=500000' | jq": plan("edge", lambda parts: sum(part["bytes"] for part in parts) <= 500_000),
    "'Save-Data: on'": plan("3g", lambda parts: all(part["why"] == "active" for part in parts)),
    "If-None-Match: $tag": holds(r"\AHTTP/1.1 304 "),
    "limit=1000' | jq .": ({22}, holds(r'"parameter": "limit"')),
    "lookahead seed posts.ndjson\n": holds("^3 added"),
    "feed=mine' | jq": holds(r'"ferry",\s*"words"\s*\][^$]*"weight": 2'),
    "/events'": ({124}, holds(r"\Aretry: \d+\nid: \S+\n")),
    "/v1/plan -H": lambda said: all("why" in action for action in json.loads(said)["actions"]),
    "lookahead plan": lambda said: all(json.loads(line) for line in said.splitlines()),
    "-X PUT": lines("201"),
    "-X POST -H \"$auth\" -H 'Content-Type: application/json'":
        lambda said: json.loads(said) == {"id": "hello", "counters": {"likes": 1}},
    "-X DELETE": lines("204"),
    "-T posts.ndjson.gz": lambda said: json.loads(said)["refused"] == 0,
    "lookahead seed --feed harbour": holds(r"^\d+ added"),
    "lookahead probe clip.mp4": lambda said: [json.loads(line)["kind"] for line in said.splitlines()] == ["video", "image"],
    "--items 1000 --pace 1s": holds(r"on 3g: 5 items, \d+ loaders"),
    "maxCost=3 --json": lambda said: json.loads(said)["items"] == 5,
    # Whether there is something better is the lab's to say, and whether the simulation holds takes real time.
    "lab apply better.json": ({0, 1}, holds("the policy of the feed featured on edge is|nothing better")),
    "lab validate": ({0, 1}, holds("rank correlation")),
    "start.headBytes": lambda said: any(line.isdigit() for line in said.splitlines()),
    "feed=harbour&limit=5' | jq '.prefetch": plan("3g"),
    "--strategy endless --speed 10": holds(r"^endless on 3g: 20 items, "),
    # Only the first item of all has nothing before it that could have loaded it.
    "--strategy expected-wait --speed 10": lambda said: sum(
        int(number) for number in re.search(r" (\d+) loaders on images, (\d+) on videos", said).groups()) <= 3,
    # Of the clip, the picture and the text, in this order.
    ".prefetch.minimumBytes": lambda said: [json.loads(line)[0] for line in said.splitlines()] == ["My clip", "A picture", "Hello!"],
    "-o start.mp4": holds(r"\A206 [1-9]\d{3,5}\n\Z"),
    "lookahead config  ": holds(r"(?m)^port +\d+ +\[environment\]"),
    "lookahead config --format json": lambda said: json.loads(said)["settings"],
    "lookahead check": holds("ok|sound|no problem"),
    "lab run --network dsl --network very-bad --format csv": holds(r"\A\w+(,\w+)+\n"),
}


class Reader:
    """A shell in a folder that looks like a clone whose program is built, with files of one's own beside it."""

    def __init__(self, folder, program):
        self.folder, self.port = folder, free_port()
        for name in ("Fixtures", "script", "docs"):
            (folder / name).symlink_to(ROOT / name)
        built = folder / ".build/debug"
        built.mkdir(parents=True)
        (built / "lookahead").symlink_to(program)
        (folder / "home").mkdir()
        # An answer that is none ends a command.
        (folder / "home/.curlrc").write_text("fail-with-body\n")
        files_of_ones_own(folder)
        self.server = None
        self.environment = environment(
            HOME=str(folder / "home"), LOOKAHEAD_PROGRAM=str(program), LOOKAHEAD_PORT=str(self.port),
            LOOKAHEAD_LOG_LEVEL="warning", **SMALL)
        self.shell = subprocess.Popen(
            ["bash"], cwd=folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        self._send(f"cd {folder}; set -o pipefail")

    def type(self, command):
        """Its status, and what it said."""
        text = command.text
        for long, short in SMALLER:
            text = text.replace(long, short)
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        text = re.sub(r"(?<![\w./])/(srv|tmp)/", rf"{self.folder}/\1/", text)
        if text.startswith("script/server"):
            return self._serve(text.split("#")[0].split())
        if text.startswith("lookahead serve"):
            return self._serve([str(self.folder / ".build/debug/lookahead"), *text.split("#")[0].split()[1:]])
        # It has no end.
        text = text.replace("curl -N ", "timeout 2 curl -sN ")
        said, failed = self.folder / "said", self.folder / "failed"
        self._send(f"{{ {text}\n}} >{said} 2>{failed} </dev/null; echo $?")
        answer = self.shell.stdout.readline().strip()
        return int(answer or -1), said.read_text(errors="replace"), failed.read_text(errors="replace")

    def _send(self, text):
        self.shell.stdin.write(text + "\n")
        self.shell.stdin.flush()

    def _serve(self, words):
        """It goes on in a terminal of its own."""
        self.end_server()
        log = open(self.folder / "server.log", "ab")
        self.server = subprocess.Popen(
            words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        is_up = wait_until(lambda: answers(self.port) or self.server.poll() is not None, 300)
        is_up = is_up and self.server.poll() is None
        return (0 if is_up else 1), "", (self.folder / "server.log").read_text()

    def end_server(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(timeout=120)

    def end(self):
        self.end_server()
        self.shell.stdin.close()
        try:
            self.shell.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self.shell.pid, signal.SIGKILL)


def files_of_ones_own(folder):
    """Those that the documents name and do not make."""
    media = ROOT / "Fixtures/media"
    shutil.copy(media / "first-ferry/0.mp4", folder / "clip.mp4")
    shutil.copy(media / "herring-gull-portrait/0.jpg", folder / "photo.jpg")
    for needed in ("srv/media/new", "srv/backups", "tmp"):
        (folder / needed).mkdir(parents=True)
    shutil.copy(folder / "clip.mp4", folder / "srv/media/clip.mp4")
    shutil.copy(folder / "photo.jpg", folder / "srv/media/new/photo.jpg")
    shutil.copy(ROOT / "Fixtures/formats/news.rss", folder / "feed.rss")
    shutil.copy(ROOT / "Fixtures/formats/journal.json", folder / "feed.json")
    posts = [{"id": "more", "type": "text", "text": "…", "feeds": [{"name": "mine"}]}]
    (folder / "more.json.gz").write_bytes(gzip.compress(json.dumps(posts).encode()))
    (folder / "traces/3g").mkdir(parents=True)
    steps = [{"duration_ms": 5000, "bandwidth_kbps": kilobits, "latency_ms": 150} for kilobits in (700, 80, 1500)]
    (folder / "traces/3g/bus.json").write_text(json.dumps(steps))
    shares = {"p10": 0.25, "p50": 0.9, "p90": 1.5, "mean": 0.9}
    (folder / "watch.json").write_text(json.dumps({"deciles": [{"durationMs": [2000, 9000], "watchRatio": shares}]}))


def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def expectation(command):
    """The statuses that are right, the check of what a command says, and the line of the table."""
    found = [part for part in EXPECTED if part in command.text + "\n"]
    if len(found) > 1:
        raise SystemExit(f"{command}: two lines of EXPECTED are about it: {found}")
    if not found:
        return {0}, None, None
    expected = EXPECTED[found[0]]
    statuses, check = expected if isinstance(expected, tuple) else ({0}, expected)
    return statuses, check, found[0]


def judge(check, said):
    try:
        return check is None or bool(check(said))
    except (ValueError, LookupError, TypeError):
        return False


def run(commands, program, used):
    """Types commands into a fresh folder; how many failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(pathlib.Path(folder).resolve(), program)
        try:
            for command in commands:
                reasons = [part for part in NOT_HERE if part in command.text]
                used.update(reasons)
                if reasons:
                    print(f"  -  {command} ({NOT_HERE[reasons[0]]})")
                    continue
                expected, check, part = expectation(command)
                used.add(part)
                start = time.monotonic()
                # What a command wrote the server sees with its next look: a person would ask again.
                is_reading = command.text.startswith("curl -s 'http")
                while True:
                    status, said, problem = reader.type(command)
                    is_right = status in expected and judge(check, said or problem)
                    if is_right or not is_reading or time.monotonic() > start + 5:
                        break
                print(f"{'ok  ' if is_right else 'FAIL'} {command} ({time.monotonic() - start:.1f} s)", flush=True)
                if not is_right:
                    failed += 1
                    print(f"     status {status}, not {expected}\n{said[-1500:]}\n{problem[-1500:]}")
                if status == -1:
                    break
        finally:
            reader.end()
    return failed


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    documents = [(ROOT / "README.md", "sh"), *((file, "sh run") for file in sorted((ROOT / "docs").glob("*.md")))]
    reference = [command for file, info in documents for command in blocks.commands(file, info)]
    apart = [blocks.commands(ROOT / "docs" / name, "sh") for name in ("tutorial.md", "first-feed.md")]
    commands = [*reference, *(command for document in apart for command in document)]
    used, began = set(), time.monotonic()
    failed = sum(run(document, program, used) for document in [*apart, reference])
    idle = [part for part in [*NOT_HERE, *EXPECTED] if part not in used]
    idle += [long for long, _ in SMALLER if not any(long in command.text for command in commands)]
    for part in idle:
        print(f"FAIL no command has {part!r} any more")
    print(f"{len(commands)} commands in {time.monotonic() - began:.0f} s, {failed + len(idle)} failed")
    return 1 if failed or idle else 0


if __name__ == "__main__":
    sys.exit(main())
