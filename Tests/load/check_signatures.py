"""Media files in a store that checks signatures: keys, clocks, names of every kind, and URLs that are handed out. Run by
script/check-object-storage."""

import contextlib
import json
import os
import pathlib
import tempfile
import unicodedata
import urllib.error
import urllib.parse
import urllib.request

import boto3
import botocore.config

import faults
from check_media_uploads import picture, put
from checks import Skipped, require
from relay import Relay
from running import FIXTURES, TOKEN, RunningServer, wait_until
from swift_store import INSTALLED, KEYS, REGION, SwiftStore

ROOT = "s3://media/files"
OPTIONS = ["--media-look-milliseconds", "0", "--media-probe-cpu-percent", "0", "--media-store-timeout-milliseconds", "20000"]
COMPOSED = unicodedata.normalize("NFC", "a\u0308pfel é.bmp")
NAMES = [
    "plain.bmp", "a b/c d.bmp", "plus+.bmp", "per%cent %41.bmp", "tilde~-_.bmp", COMPOSED,
    unicodedata.normalize("NFD", COMPOSED), "\u0301accent.bmp", "all !\"#$&'()*,:;<=>?@[]^`{|}.bmp", "日本/🎈.bmp",
    "deep/" * 20 + "er.bmp"]
HOUR = 3_600


def path(name):
    return "/media/" + urllib.parse.quote(name)


@contextlib.contextmanager
def settings(**changed):
    """Other settings than the right ones, for a while."""
    before = {name: os.environ[name] for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        os.environ.update(before)


def refused(words, program, folder, **named):
    """A server does not start, and says these."""
    try:
        with server(program, folder, **named):
            require(False, "it serves")
    except RuntimeError as error:
        require(all(word in str(error) for word in words), f"{error}")


class Store:
    """The store, and what lies in its bucket, asked by boto3 with the right keys."""

    def __init__(self, folder):
        self.swift = SwiftStore(folder)

    def __enter__(self):
        self.swift.__enter__()
        os.environ.update(KEYS, AWS_ENDPOINT_URL=f"http://127.0.0.1:{self.swift.port}")
        # Trailers with check sums came after this store.
        self.client = boto3.session.Session().client("s3", config=botocore.config.Config(
            signature_version="s3v4", request_checksum_calculation="when_required",
            response_checksum_validation="when_required"))
        try:
            self.client.create_bucket(Bucket="media", CreateBucketConfiguration={"LocationConstraint": REGION})
        except BaseException:
            # `with` ends nothing that did not begin.
            self.swift.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.swift.__exit__()

    def names(self):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="media", Prefix="files/")
        return sorted(one["Key"].removeprefix("files/") for page in pages for one in page.get("Contents", []))

    def get(self, name):
        return self.client.get_object(Bucket="media", Key=f"files/{name}")["Body"].read()


def fetch(url, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def server(program, folder, *options, before=()):
    running = RunningServer(program, folder, *OPTIONS, *options, media=ROOT)
    running.before = list(before)
    return running


def right_keys(program, folder, store, _):
    """Names with every kind of character, files of one part and of several, and what a server does with them."""
    large = picture(99, rows=100_000)
    clip = (FIXTURES / "media/loom/0.mp4").read_bytes()
    contents = {name: picture(number) for number, name in enumerate(NAMES)} | {"large.bmp": large, "loom/0.mp4": clip}
    with server(program, folder) as running:
        for name, content in contents.items():
            status, answer = put(running, urllib.parse.quote(name), content)
            require(status == 201, f"{name}: {status} {answer}")
            require(store.get(name) == content, f"{name}: the store has another one")
            status, fields, body = running.get(path(name), timeout=60)
            require(status == 200 and body == content, f"{name}: {status}, {len(body)} bytes")
            require(running.get(path(name), [("Range", "bytes=5-9")])[2] == content[5:10], f"{name}: a range")
            require(running.ask("HEAD", path(name))[0] == 200, f"{name}: HEAD")
        require(store.names() == sorted(contents), f"{store.names()}")
        listed, link = [], "/v1/media?limit=4"
        while link:
            page = json.loads(running.ask("GET", link, token=TOKEN, timeout=60)[2])
            listed += [one["path"] for one in page["files"]]
            link = page["paging"]["links"].get("next")
        require([urllib.parse.unquote(one) for one in listed]
                == ["/media/" + name for name in sorted(contents, key=lambda name: name.encode())], f"{listed}")
        require(put(running, "plain.bmp", picture(50), [("If-None-Match", "*")])[0] == 412, "If-None-Match")
        status, _, body = running.ask("POST", "/v1/renditions?path=/media/loom/0.mp4", token=TOKEN, timeout=60)
        require(status in (202, 501), f"POST /v1/renditions: {status} {body}")
        order = lambda: json.loads(running.ask("GET", "/v1/renditions", token=TOKEN, timeout=60)[2])["files"][0]
        require(status == 501 or wait_until(lambda: order()["state"] == "made", 120), f"{order()}")
        for name in contents:
            require(running.ask("DELETE", path(name) + "?force=1", token=TOKEN, timeout=60)[0] == 204, f"{name}: DELETE")
        left = store.names()
        require(all(name.startswith("loom/_renditions/") for name in left) and (left or status == 501), f"{left}")
        for name in left:
            store.client.delete_object(Bucket="media", Key=f"files/{name}")
    return f"{len(contents)} names, one of them in parts, and {len(left)} smaller versions"


def wrong_keys(program, folder, store, _):
    """What is wrong is said with the setting that it is, before anything is served; and nothing is half there."""
    before = store.names()
    cases = [({"AWS_SECRET_ACCESS_KEY": "another"}, ["SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"]),
             ({"AWS_ACCESS_KEY_ID": "team:nobody"}, ["403", "AWS_ACCESS_KEY_ID"]),
             ({"AWS_REGION": "us-west-2"}, ["AuthorizationHeaderMalformed", "AWS_REGION"])]
    for changed, words in cases:
        with settings(**changed):
            refused(words, program, folder)
    # A store that is away at the start, and then refuses: what is put is not there, and nothing of it stays.
    relay = Relay(store.swift.port)
    relay.set("gone")
    with settings(AWS_SECRET_ACCESS_KEY="another", AWS_ENDPOINT_URL=f"http://127.0.0.1:{relay.port}"), \
            server(program, folder) as running:
        relay.set("pass")
        for rows in (2, 100_000):
            status, problem = put(running, "never.bmp", picture(1, rows=rows))
            require(status == 502 and problem["type"].endswith(":media-store-failed"), f"{status} {problem}")
        require(running.get(path("never.bmp"), timeout=60)[0] == 502, "it reads")
        # The log is written by another thread.
        require(wait_until(lambda: "AWS_SECRET_ACCESS_KEY" in running.log.read_text(), 10), running.log.read_text()[-600:])
        left = [one for one in (pathlib.Path(folder) / "feed.sqlite-uploads").rglob("*")
                if one.is_file() and one.name != "lock"]
        require(not left and store.names() == before, f"left: {left}, {store.names()}")
    return f"{len(cases)} wrong settings named; nothing stored"


def clocks(program, folder, store, library):
    """A clock that is an hour off is said; a server whose clock jumps goes on when it is right again."""
    if library is None:
        raise Skipped("there is no C compiler")
    clock = faults.Faults(library, pathlib.Path(folder) / "faults")
    for offset in (HOUR, -HOUR):
        clock.move_clock(offset)
        refused(["RequestTimeTooSkewed", "clock"], program, folder, before=clock.before)
    clock.move_clock(0)
    with server(program, folder, before=clock.before) as running:
        require(put(running, "clock.bmp", picture(3))[0] == 201, "the right time")
        for offset in (HOUR, -HOUR, 300, 0):
            clock.move_clock(offset)
            expected = 502 if abs(offset) == HOUR else 200
            status = running.get(path("clock.bmp"), timeout=60)[0]
            require(status == expected, f"{offset} s off: {status}")
            status, _ = put(running, f"clock{offset}.bmp", picture(4))
            require(status == (201 if expected == 200 else 502), f"{offset} s off: PUT {status}")
        for name in ("clock.bmp", "clock300.bmp", "clock0.bmp"):
            require(running.ask("DELETE", path(name), token=TOKEN, timeout=60)[0] == 204, f"{name}: DELETE")
    require(store.names() == [], f"{store.names()}")
    return "an hour off is refused in words, five minutes are not"


def signed_urls(program, folder, store, library):
    """The store takes the URLs that clients are sent to, for the method, object and time that they are for alone."""
    for number, name in enumerate(NAMES):
        store.client.put_object(Bucket="media", Key=f"files/{name}", Body=picture(number))
    clock = faults.Faults(library, pathlib.Path(folder) / "faults") if library else None
    with server(program, folder, "--media-delivery", "redirect", before=clock.before if clock else ()) as running:
        for number, name in enumerate(NAMES):
            status, fields, _ = running.get(path(name))
            require(status == 307, f"{name}: {status}")
            status, body = fetch(fields["Location"])
            require(status == 200 and body == picture(number), f"{name}: {status} {body[:200]}")
            status, head, _ = running.ask("HEAD", path(name))
            require(status == 307 and fetch(head["Location"], "HEAD")[0] == 200, f"{name}: HEAD")
        url = fields["Location"]
        require(fetch(url, "DELETE")[0] == 403, "another method is taken")
        require(fetch(url.replace("X-Amz-Expires=", "X-Amz-Expires=1"))[0] in (400, 403), "another time is taken")
        require(fetch(url.replace("/files/", "/files/x"))[0] == 403, "another object is taken")
        require(fetch(url[:-1] + ("0" if url[-1] != "0" else "1"))[0] == 403, "another signature is taken")
        if clock:
            clock.move_clock(-24 * HOUR)
            status, fields, _ = running.get(path(NAMES[0]))
            status, body = fetch(fields["Location"])
            require(status == 403 and b"expired" in body, f"a URL of yesterday: {status} {body}")
    return f"{len(NAMES)} names by GET and HEAD; others, and expired ones, are refused"


def missing():
    raise Skipped("python3-swift is not installed")


def run(program, checks):
    """Adds a line to `checks` for each."""
    cases = [("names", right_keys), ("wrong keys", wrong_keys), ("clocks", clocks), ("signed URLs", signed_urls)]
    with tempfile.TemporaryDirectory() as folder:
        if not INSTALLED.exists():
            return checks.run("signatures", missing)
        library, _ = faults.build(folder)
        with Store(pathlib.Path(folder) / "store") as store:
            for name, check in cases:
                with tempfile.TemporaryDirectory() as own:
                    checks.run(f"signatures: {name}", check, program, own, store, library)
