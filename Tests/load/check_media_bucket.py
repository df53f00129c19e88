"""Media files in a bucket: read by clients as from a folder, put there whole or not at all, whatever the store does.
See script/check-object-storage."""

import concurrent.futures
import hashlib
import html
import http.client
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import boto3

from check_media_uploads import Connection, Upload, digest, picture, put
from checks import Skipped, require
from relay import Relay
from running import FIXTURES, TOKEN, RunningServer, environment, wait_until

BUCKET = "media"
ROOT = f"s3://{BUCKET}/files"
# However busy the machine is.
OPTIONS = ["--media-look-milliseconds", "0", "--answer-timeout-milliseconds", "600000"]
SHORT = ["--media-store-timeout-milliseconds", "1000"]


def path(name):
    return "/media/" + urllib.parse.quote(name)


class Bucket:
    """What lies in it, asked of the store itself and not through the relay."""

    def __init__(self, store):
        self.relay = Relay(store.port)
        self.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{store.port}")
        os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{self.relay.port}"
        self.client.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": os.environ["AWS_REGION"]})

    def put(self, name, content, type="application/octet-stream"):
        self.client.put_object(Bucket=BUCKET, Key=f"files/{name}", Body=content, ContentType=type)

    def get(self, name):
        return self.client.get_object(Bucket=BUCKET, Key=f"files/{name}")["Body"].read()

    def delete(self, name):
        self.client.delete_object(Bucket=BUCKET, Key=f"files/{name}")

    def names(self):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="files/")
        return [one["Key"].removeprefix("files/") for page in pages for one in page.get("Contents", [])]

    def unfinished(self):
        return len(self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []))

    def clear(self):
        self.relay.set("pass")
        for name in self.names():
            self.delete(name)


def server(program, folder, *options, root=ROOT):
    return RunningServer(program, folder, *OPTIONS, *options, media=root)


def spool(folder):
    """What lies in the spool folder, but for the locks."""
    return [one.name for one in (pathlib.Path(folder) / "feed.sqlite-uploads").rglob("*")
            if one.is_file() and one.name != "lock"]


NAMES = ["plain.bmp", "a b/c d.bmp", "ü/é.bmp", "per%cent.bmp", "plus+and&.bmp", "\u0301accent.bmp", "a/b/c/d.bmp",
         "quote'\".bmp", "<Key>.bmp", "tilde~-_.bmp"]


def reads(program, folder, bucket):
    """Every form of a read has the bytes that a file's would, at sizes around those of heads and pieces."""
    bucket.clear()
    generator = random.Random(1)
    head, piece = 65536, 4096
    sizes = [0, 1, 2, 4095, 4096, head - 1, head, head + 1, head + piece - 1, head + piece, head + 3 * piece + 1]
    contents = {f"size-{size}.bin": generator.randbytes(size) for size in sizes}
    contents |= {name: picture(number) for number, name in enumerate(NAMES)}
    for name, content in contents.items():
        bucket.put(name, content)
    asked = 0
    with server(program, folder, "--media-piece-bytes", str(piece), "--media-probe-cpu-percent", "0") as running:
        for name, content in contents.items():
            status, fields, body = running.get(path(name))
            require(status == 200 and body == content, f"{name}: {status}, {len(body)} of {len(content)} bytes")
            require(fields["ETag"] == f'"{hashlib.md5(content).hexdigest()}"', f"{name}: {fields['ETag']}")
            tag, size = fields["ETag"], len(content)
            ends = sorted({0, 1, size // 2, size - 1, size, size + 1, head, head + 1} & set(range(0, size + 2)))
            for first in ends:
                for last in ends:
                    expected = content[first:last + 1]
                    status, fields, body = running.get(path(name), [("Range", f"bytes={first}-{last}")])
                    if last < first:
                        require(status == 200 and body == content, f"{name} {first}-{last}: {status}")
                    elif not expected:
                        require(status == 416 and fields["Content-Range"] == f"bytes */{size}",
                                f"{name} {first}-{last}: {status} {fields['Content-Range']}")
                    else:
                        require(status == 206 and body == expected, f"{name} {first}-{last}: {status} {len(body)}")
                    asked += 1
            if size > 10:
                status, fields, body = running.get(path(name), [("Range", f"bytes=0-1,{size - 3}-,4-5")])
                require(status == 206 and fields["Content-Type"].startswith("multipart/byteranges"), f"{name}: {status}")
                for part in [content[:2], content[-3:], content[4:6]]:
                    require(b"\r\n\r\n" + part + b"\r\n--" in body, f"{name}: a part is missing")
                require(running.get(path(name), [("Range", "bytes=0-0"), ("If-Range", tag)])[0] == 206, "If-Range")
                require(running.get(path(name), [("Range", "bytes=0-0"), ("If-Range", '"x"')])[0] == 200, "If-Range")
            require(running.get(path(name), [("If-None-Match", tag)])[0] == 304, f"{name}: no 304")
            require(running.get(path(name), [("If-Match", '"x"')])[0] == 412, f"{name}: no 412")
            status, fields, body = running.ask("HEAD", path(name))
            require(status == 200 and fields["Content-Length"] == str(size) and body == b"", f"{name}: HEAD {status}")
        for name in [".hidden.bmp", "none.bmp", "a", "plain.bmp/", "a/../plain.bmp", "x/" * 40 + "a.bmp"]:
            require(running.get(path(name))[0] in (400, 404), f"{name} is there")
        bucket.put("evil.jpg", b"<html><script>alert(1)</script>", "text/html")
        status, fields, _ = running.get(path("evil.jpg"))
        require(fields["Content-Disposition"] == "attachment" and fields["X-Content-Type-Options"] == "nosniff",
                f"hostile content: {fields}")
        # One connection for all of it: nothing of a body is left behind.
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        for name, content in list(contents.items()) * 2:
            connection.request("GET", path(name))
            require(connection.getresponse().read() == content, f"{name} on a connection that stays")
    return f"{len(contents)} objects, {asked} ranges, names and sizes at the limits"


def slow_clients(program, folder, bucket):
    """Clients that take nothing hold two pieces each, and no thread: others are served meanwhile."""
    size, count, piece = 30 << 20, 60, 262_144
    content = random.Random(2).randbytes(size)
    bucket.put("large.bin", content)
    with server(program, folder, "--media-probe-cpu-percent", "0") as running:
        require(running.get(path("large.bin"), timeout=60)[2] == content, "the object is another one")
        before = running.resident_bytes()
        sockets = []
        for _ in range(count):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", running.port))
            one.sendall(f"GET {path('large.bin')} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            sockets.append(one)
        time.sleep(5)
        grown = running.resident_bytes() - before
        require(grown < count * 3 * piece + (32 << 20), f"{count} slow clients hold {grown >> 20} MiB")
        start = time.monotonic()
        require(running.get(path("large.bin"), [("Range", "bytes=20000000-20000099")])[2]
                == content[20_000_000:20_000_100], "another client gets other bytes")
        seconds = time.monotonic() - start
        for one in sockets:
            one.close()
    return f"{count} clients of {size >> 20} MiB each hold {grown >> 20} MiB; another waits {seconds * 1000:.0f} ms"


def replaced(program, folder, bucket):
    """An object that is replaced while it is read: the answer is of one version, or it is cut."""
    size = 2 << 20
    versions = [bytes([number]) * size for number in range(2)]
    whole = cut = 0
    with server(program, folder, "--media-probe-cpu-percent", "0", "--media-piece-bytes", "65536") as running:
        for number in range(10):
            bucket.put("changing.bin", versions[number % 2])
            connection = Connection(running, timeout=20)
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.head(path("changing.bin"), method="GET")
            data = connection.socket.recv(1000)
            bucket.put("changing.bin", versions[(number + 1) % 2])
            while piece := connection.socket.recv(65536):
                data += piece
                if data.count(b"\r\n\r\n") and len(data.split(b"\r\n\r\n", 1)[1]) >= size:
                    break
            body = data.split(b"\r\n\r\n", 1)[1]
            require(len(set(body)) <= 1, "two versions are mixed")
            whole, cut = whole + (len(body) == size), cut + (len(body) < size)
            connection.close()
    return f"{whole} whole, {cut} cut, none mixed"


def index(program, folder, bucket):
    """What is known of objects is what is known of files, and items show it; what goes is unavailable."""
    bucket.clear()
    names = ["first-ferry/0.mp4", "loom/0.mp4"]
    pictures = sorted(str(one.relative_to(FIXTURES / "media")) for one in (FIXTURES / "media").rglob("*.jpg"))[:3]
    for name in names + pictures:
        bucket.put(name, (FIXTURES / "media" / name).read_bytes())
    bucket.put("notes.txt", b"nothing to see")
    bucket.put("broken.mp4", (FIXTURES / "media" / names[0]).read_bytes()[:5000])
    with server(program, folder, "--media-probe-interval-seconds", "1", "--media-probe-cpu-percent", "100") as running:
        # What is not in the bucket is unavailable: the fixtures name more files than these.
        require(wait_until(lambda: running.metrics().get('lookahead_media_files{state="known"}', 0) == 5, 90),
                running.log.read_text()[-2000:])
        status, _, body = running.ask("GET", "/v1/media?limit=2", token=TOKEN)
        listed, next_page = json.loads(body)["files"], json.loads(body)["paging"]["links"].get("next")
        while next_page:
            page = json.loads(running.ask("GET", next_page, token=TOKEN)[2])
            listed, next_page = listed + page["files"], page["paging"]["links"].get("next")
        require([one["path"] for one in listed] == sorted(path(name) for name in bucket.names()), f"{listed}")
        known = {one["path"]: one.get("media") for one in listed}
        for name in names + pictures:
            done = subprocess.run([program, "probe", str(FIXTURES / "media" / name)], capture_output=True, check=True)
            file, found = json.loads(done.stdout), known[path(name)]
            for member in ["kind", "width", "height", "bytes", "start", "placeholder", "durationMs"]:
                require(found.get(member) == file.get(member), f"{name}.{member}: {found.get(member)}")
        text = running.get("/rp/?feed=videos&limit=30")[2]
        starts = {one["url"]: one.get("start") for item in json.loads(text)["items"] for one in item.get("media", [])}
        require(starts[path(names[0])]["headBytes"] == known[path(names[0])]["start"]["headBytes"], f"{starts}")
        before = running.metrics()
        time.sleep(3)
        after = running.metrics()
        reads = 'lookahead_media_store_requests_total{kind="read",outcome="ok"}'
        require(after[reads] == before[reads], "what did not change is read again")
        bucket.delete(names[0])

        def unavailable():
            items = json.loads(running.get("/rp/?feed=videos&limit=30")[2])["items"]
            return any(one["url"] == path(names[0]) and one.get("unavailable")
                       for item in items for one in item.get("media", []))
        require(wait_until(unavailable, 30), "an object that is gone is shown")
        bucket.relay.set("gone")
        time.sleep(2)
        require(running.get("/rp/?feed=videos&limit=3")[0] == 200, "no page without the store")
        bucket.relay.set("pass")
    done = subprocess.run([program, "probe", f"{ROOT}/{names[1]}", f"{ROOT}/none.mp4"], capture_output=True, text=True)
    require(done.returncode == 1 and json.loads(done.stdout)["start"] == known[path(names[1])]["start"]
            and "no such file" in done.stderr, f"probe: {done.stdout} {done.stderr}")
    return f"{len(names + pictures)} known as files are, unchanged ones not read again"


def commands(program, folder, bucket):
    """The commands that take a media root, and those that refuse a bucket."""
    bucket.clear()
    bucket.put("loom/0.mp4", (FIXTURES / "media/loom/0.mp4").read_bytes())
    bucket.put("unused.bmp", picture(77))
    bucket.put("_renditions/kept.bmp", picture(78))
    env = environment(LOOKAHEAD_DATABASE=str(pathlib.Path(folder) / "feed.sqlite"))

    def run(*arguments):
        done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr
    require(run("seed", "--fixtures", str(FIXTURES))[0] == 0, "seed")
    for arguments, status, words in [
            (["media", "add", ROOT], 0, "2 probed"), (["media", "add", ROOT], 0, "0 probed"),
            (["media", "add", "--media-root", ROOT, f"{ROOT}/loom"], 0, "1 unchanged"),
            (["media", "add", "--media-root", ROOT, f"{ROOT}/loom/0.mp4"], 0, "1 unchanged"),
            (["media", "add", "--media-root", ROOT, f"{ROOT}/none"], 1, "no such file"),
            (["media", "add", "--media-root", ROOT, "s3://other/x"], 1, "is not in the media root"),
            (["media", "add", "s3://no-such-bucket/x"], 1, "NoSuchBucket"),
            (["seed", "--probe", "--media-root", ROOT, str(FIXTURES / "videos.ndjson")], None, "unchanged"),
            (["media", "renditions", "--dry-run", ROOT], 0, "2 would be made"),
            (["media", "renditions", ROOT], 0, "renditions: 2 made"),
            (["media", "renditions", f"{ROOT}/"], 0, "renditions: 0 made, 2 already there"),
            (["media", "renditions", "--media-root", ROOT, f"{ROOT}/loom/0.mp4"], 0, "2 already there"),
            (["media", "faststart", f"{ROOT}/loom/0.mp4"], 64, "objects cannot be rewritten"),
            (["media", "sweep", "--media-root", ROOT, "--older-than", "0"], 0, "nothing deleted"),
            (["media", "sweep", "--media-root", ROOT, "--older-than", "0", "--delete"], 0, "deleted 1 files"),
            (["serve", "--media-delivery", "direct", "--media-root", "/tmp"], 64, "needs a bucket"),
            (["serve", "--media-delivery", "sideways"], 64, "not one of through"),
            (["serve", "--media-root", "s3://B"], None, "not the address of a bucket"),
            (["serve", "--media-root", "s3://no-such-bucket/x", "--port", "0"], None, "NoSuchBucket"),
            (["serve", "--media-root", ROOT, "--media-delivery", "redirect", "--media-url-seconds", "604800"], 64,
             "URLs of the store are valid for at most 604800")]:
        code, text = run(*arguments)
        require((code == status if status is not None else True) and words in text, f"{arguments}: {code} {text[-400:]}")
    names = bucket.names()
    require(names[:2] == ["_renditions/kept.bmp", "loom/0.mp4"] and len(names) == 4, f"{names}")
    return "add, seed, renditions, sweep; refusals in words"


def renditions(program, folder, bucket):
    """Smaller versions of objects, as of files: made once, shown, gone with what they are of, whoever is killed meanwhile."""
    bucket.clear()
    clip, other = ((FIXTURES / "media" / name).read_bytes() for name in ("loom/0.mp4", "first-ferry/0.mp4"))
    image = (FIXTURES / "media/lighthouse-steps/5.jpg").read_bytes()
    bucket.put("first-ferry/0.mp4", clip)
    bucket.put("ü b/é.jpg", image)
    made = lambda: sorted(name for name in bucket.names() if "_renditions/" in name)
    options = ["--media-probe-interval-seconds", "1", "--media-probe-cpu-percent", "100"]

    def make(running, name, state="made"):
        """What came of asking for smaller versions of a file."""
        asked = "/v1/renditions?path=" + urllib.parse.quote(path(name))
        status, _, body = running.ask("POST", asked, token=TOKEN, timeout=60)
        require(status == 202, f"POST {name}: {status} {body}")
        order = lambda: next(one for one in json.loads(running.ask("GET", "/v1/renditions", token=TOKEN, timeout=60)[2])["files"]
                             if one["path"] == json.loads(body)["path"])
        require(wait_until(lambda: order()["state"] in ("made", "failed"), 300), f"{name}: {order()}")
        require(order()["state"] == state, f"{name}: {order()}")
        return order()

    def shown(running):
        """What the item shows of its file."""
        return json.loads(running.get("/v1/items/first-ferry")[2])["media"][0]
    with server(program, folder, *options) as running:
        state = json.loads(running.ask("GET", "/v1/renditions", token=TOKEN)[2])
        if not state["canMake"]:
            raise Skipped(state["problem"])
        require(put(running, "new/clip.mp4", clip)[0] == 201, "PUT")
        for name, count in [("first-ferry/0.mp4", 2), ("new/clip.mp4", 2), ("ü b/é.jpg", 1)]:
            found = make(running, name)
            require(found["made"] == count and found["dropped"] == 0, f"{name}: {found}")
            found = make(running, name)
            require(found["made"] == 0 and found["kept"] == count, f"{name} again: {found}")
        require(len(made()) == 5, f"{made()}")
        # Of the same content they have the same names and bytes, however the content came.
        names = [name.split("_renditions/")[1] for name in made()]
        require(len(set(names)) == 3, f"{names}")
        file = shown(running)
        require(len(file["variants"]) == 2, f"{file}")
        for variant in file["variants"]:
            status, fields, body = running.get(variant["url"])
            require(status == 200 and fields["Content-Type"] == "video/mp4"
                    and body == bucket.get(urllib.parse.unquote(variant["url"]).removeprefix("/media/")), f"{variant}")
        require(running.get(file["immutableUrl"])[0] == 200, "its content is known")
        reads = lambda: running.metrics()['lookahead_media_store_requests_total{kind="read",outcome="ok"}']
        before = reads()
        time.sleep(3)
        require(reads() == before, "what did not change is read again")
        require(shown(running) == file, "a round forgets them")
        # Another content has others, and none until they are made.
        bucket.put("first-ferry/0.mp4", other)
        require(wait_until(lambda: "variants" not in shown(running), 30), "another content has the old ones")
        old = [name for name in made() if name.startswith("first-ferry/")]
        require(make(running, "first-ferry/0.mp4")["made"] == 2 and len(shown(running)["variants"]) == 2, "the new content")
        # A store that goes in the middle is said, and nothing is half there; asked again, they are made.
        bucket.put("store/0.mp4", other + b"\0\0\0\x08free")
        bucket.relay.set("gone")
        status = running.ask("POST", "/v1/renditions?path=/media/store/0.mp4", token=TOKEN, timeout=60)[0]
        require(status == 503, f"a store that is gone: {status}")
        bucket.relay.set("pass")
        status = running.ask("POST", "/v1/renditions?path=/media/store/0.mp4", token=TOKEN, timeout=60)[0]
        require(status == 202, f"a store that is back: {status}")
        # Killed while it makes them: the next one makes what is missing.
        time.sleep(random.uniform(0, 0.5))
        running.kill()
        running.start()
        require(spool(folder) == [], f"left: {spool(folder)}")
        found = make(running, "store/0.mp4")
        require(found["made"] + found["kept"] == 2, f"{found}")
        require(running.ask("GET", path("none.mp4"))[0] == 404 and running.ask(
            "POST", "/v1/renditions?path=/media/none.mp4", token=TOKEN)[0] == 404, "what is not there")

    def run(*arguments, input=None):
        done = subprocess.run(
            [program, *arguments], input=input, capture_output=True, text=True, timeout=300,
            env=environment(LOOKAHEAD_DATABASE=str(pathlib.Path(folder) / "feed.sqlite")))
        require(done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout
    # Those of a content that is gone, and what is in a database that knows nothing of them.
    require("2 of deleted contents removed" in run("media", "renditions", ROOT), "stale ones stay")
    require(not set(old) & set(made()), f"{made()}")
    there = made()
    (pathlib.Path(folder) / "feed.sqlite").unlink()
    text = run("media", "renditions", ROOT)
    require("renditions: 0 made, 7 already there" in text and made() == there, text)
    # What no post names goes with its own.
    run("seed", "-", input=json.dumps({"id": "a", "type": "video", "media": [
        {"kind": "video", "url": path("first-ferry/0.mp4")}, {"kind": "video", "url": path("store/0.mp4")}]}))
    text = run("media", "sweep", "--media-root", ROOT, "--older-than", "0", "--delete")
    require("deleted 2 files, 3 renditions" in text, text)
    require(made() == [name for name in there if name.startswith(("first-ferry/", "store/"))], f"{made()}")
    return f"{len(there)} of 4 objects; made once, by servers that are killed and with a store that goes"


def listed(program, folder, bucket):
    """More objects than a list has at once, and among them what other programs leave for folders."""
    bucket.clear()
    count, pictures = 1_234, {0, 999, 1_000, 1_001, 1_233}
    names = [f"many/{number:05}.{'bmp' if number in pictures else 'txt'}" for number in range(count)]
    contents = [picture(number) if number in pictures else b"nothing to see" for number in range(count)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(bucket.put, names, contents))
    markers = ["", "many/", "empty/", "many/00000.bmp/", "a//b.bmp", ".hidden.bmp"]
    for name in markers:
        bucket.put(name, b"")
    bucket.put("zero.bmp", b"")
    with server(program, folder, "--media-probe-interval-seconds", "1", "--media-probe-cpu-percent", "100") as running:
        found, link, pages = [], "/v1/media?limit=1000", 0
        while link:
            page = json.loads(running.ask("GET", link, token=TOKEN, timeout=60)[2])
            found, pages = found + [one["path"] for one in page["files"]], pages + 1
            link = page["paging"]["links"].get("next")
        require(found == [path(name) for name in names + ["zero.bmp"]], f"{len(found)} files: {found[-3:]}")
        for name in ["", "many/", "many", "empty/", "empty", "many/00000.bmp/", "a//b.bmp", ".hidden.bmp"]:
            require(running.get(path(name))[0] in (400, 404), f"{name!r} is there")
        status, fields, body = running.get(path("zero.bmp"))
        require(status == 200 and fields["Content-Length"] == "0" and body == b"", f"no bytes: {status}")
        require(put(running, "zero.bmp", b"")[0] in (415, 422), "no bytes are taken for a picture")
        state = 'lookahead_media_files{state="%s"}'
        figures = lambda: [running.metrics().get(state % one) for one in ("known", "broken", "other")]
        require(wait_until(lambda: figures() == [len(pictures), 1, count - len(pictures)], 120), f"{figures()}")
        bucket.delete(names[-1])
        require(wait_until(lambda: figures()[0] == len(pictures) - 1, 60), f"one that is gone: {figures()}")
    return f"{count} objects in {pages} pages, {len(markers)} markers passed over"


def uploads(program, folder, bucket):
    """Put, posted, continued, replaced under conditions, deleted, quota: in the bucket and in what is known."""
    bucket.clear()
    clip = (FIXTURES / "media/loom/0.mp4").read_bytes()
    # Several parts.
    large = picture(5, rows=100_000)
    with server(program, folder, "--media-quota-bytes", str(40 << 20)) as running:
        status, answer = put(running, "new/clip.mp4", clip)
        require(status == 201 and answer["media"]["start"] and answer["digest"] == digest(clip), f"{status} {answer}")
        require(bucket.get("new/clip.mp4") == clip, "the object is another one")
        status, fields, _ = running.get(answer["immutableUrl"])
        require(status == 200, f"{answer['immutableUrl']}: {status}")
        require(put(running, "large.bmp", large)[0] == 201 and bucket.get("large.bmp") == large, "in parts")
        status, fields, body = running.get(path("large.bmp"), timeout=60)
        require(body == large and re.fullmatch(r'"[0-9a-f]{32}-2"', fields["ETag"]), f"{fields['ETag']}")
        tag = fields["ETag"]
        require(put(running, "large.bmp", picture(6), [("If-None-Match", "*")])[0] == 412, "If-None-Match")
        require(put(running, "large.bmp", picture(6), [("If-Match", '"x"')])[0] == 412, "If-Match")
        require(put(running, "large.bmp", picture(6), [("If-Match", tag)])[0] == 200, "If-Match holds")
        require(running.get(path("large.bmp"))[2] == picture(6), "the old one is shown")
        require(running.get(answer["immutableUrl"])[0] == 200, "immutable")
        require(put(running, "new/clip.mp4", picture(7))[0] == 415, "another type")
        require(put(running, "a.bmp", picture(8), [("Repr-Digest", digest(b"other"))])[0] == 400, "a wrong digest")
        require(put(running, "b.bmp", b"<html>")[0] == 415, "hostile content")
        status, problem = put(running, "quota.bmp", picture(9, rows=250_000))
        require(status == 507 and problem["type"].endswith(":quota-exceeded"), f"quota: {status}")
        connection = Connection(running)
        connection.head("/v1/media", len(picture(10)), [("Content-Type", "image/bmp")], method="POST")
        connection.send(picture(10))
        status, answer = connection.answer()
        require(status == 201 and bucket.get(answer["path"].removeprefix("/media/")) == picture(10), f"POST: {status}")
        upload = Upload(running, picture(11, rows=50))
        upload.begin("resumed.bmp", 100).close()
        require(wait_until(lambda: upload.offset()[0] == 100, 10), "an upload that was begun")
        require(running.metrics()["lookahead_media_partial_uploads"] == 1, "it is counted")
        running.kill()
        running.start()
        require(upload.offset()[0] == 100, "it is there behind a kill")
        status, answer = upload.append(100, len(upload.content))
        require(status == 201 and bucket.get("resumed.bmp") == upload.content, f"{status} {answer}")
        require(upload.offset() == (len(upload.content), True), "complete")
        names = [name for name in bucket.names() if not name.startswith("content/")]
        require(names == ["large.bmp", "new/clip.mp4", "resumed.bmp"], f"{names}")
        require(running.ask("DELETE", path("resumed.bmp"), token=TOKEN)[0] == 204, "DELETE")
        require(running.ask("DELETE", path("resumed.bmp"), token=TOKEN)[0] == 404, "DELETE twice")
        require(running.get(path("resumed.bmp"))[0] == 404, "it is shown")
        # Right behind answers, a write that was taken in may still give its file back.
        left = [name for name in spool(folder) if not name.endswith(".note")]
        require(left == [] and bucket.unfinished() == 0, f"left: {left}, {bucket.unfinished()}")
    return "put, posted, continued behind a kill, conditions, quota, deleted"


def expired(program, folder, bucket):
    """Uploads that nobody continues go by themselves."""
    with server(program, folder, "--partial-upload-seconds", "2") as running:
        for number in range(3):
            Upload(running, picture(20 + number, rows=10)).begin(f"e{number}.bmp", 100).close()
        require(running.metrics()["lookahead_media_partial_uploads"] == 3, "counted")
        require(running.metrics()["lookahead_media_partial_upload_bytes"] <= 300, "bytes")
        require(wait_until(lambda: running.metrics()["lookahead_media_partial_uploads"] == 0, 20), "they stay")
        require(spool(folder) == [], f"left: {spool(folder)}")
        require("expired uploads" in running.log.read_text(), "the log does not say so")
    return "three uploads, removed and counted"


def failures(program, folder, bucket):
    """What clients hear when the store fails: clear, soon, and nothing half there."""
    bucket.clear()
    content = picture(30, rows=2_000)
    bucket.put("here.bmp", content)
    wrong_range = (b"HTTP/1.1 206 X\r\nContent-Length: 2\r\nContent-Range: bytes 5-6/9\r\nConnection: close\r\n\r\nxx")
    expected = [
        (("status", 403, "AccessDenied"), 502, 502), (("status", 404, "NoSuchBucket"), 502, 502),
        (("status", 500, "InternalError"), 503, 503), (("status", 503, "SlowDown"), 503, 503),
        (("status", 429, "TooMany"), 503, 503), (("status", 301, "PermanentRedirect"), 502, 502),
        (("status", 307, "TemporaryRedirect"), 502, 502), (("drip", 0.05), 503, None),
        (("bytes", b"hello\r\n\r\n"), 503, 503), (("bytes", wrong_range), 502, None), ("gone", 503, 503),
        (("cut", 0), 503, 503), (("cut", 40), 503, 503), ("silent", 503, 503)]
    slowest = 0
    with server(program, folder, *SHORT, "--media-probe-cpu-percent", "0", "--media-head-memory-bytes", "0") as running:
        for mode, read, write in expected:
            bucket.relay.set(mode)
            start = time.monotonic()
            status, fields, body = running.get(path("here.bmp"), timeout=60)
            problem = json.loads(body)
            require(status == read and problem["type"].endswith(":media-store-failed"), f"{mode}: {status} {problem}")
            require(status == 502 or fields["Retry-After"], f"{mode}: no Retry-After")
            slowest = max(slowest, time.monotonic() - start)
            if write:
                status, problem = put(running, "never.bmp", picture(31))
                require(status == write and problem["type"].endswith(":media-store-failed"), f"{mode}: PUT {status}")
                status, fields, body = running.ask("DELETE", path("here.bmp"), token=TOKEN, timeout=60)
                # What a store says to HEAD does not tell a bucket that is missing from an object.
                require(status == (404 if mode[1] == 404 else write), f"{mode}: DELETE {status} {body}")
                status, fields, body = running.ask("GET", "/v1/media", token=TOKEN, timeout=60)
                require(status == write, f"{mode}: list {status}")
            require(running.get("/rp/?feed=featured&limit=3")[0] == 200 and running.get("/readyz")[0] == 200,
                    f"{mode}: no page")
        bucket.relay.set(("status", 404, "NoSuchKey"))
        require(running.get(path("here.bmp"))[0] == 404, "NoSuchKey")
        # What is too much for it for a moment, and one that is slow in all, but not too slow.
        bucket.relay.set(("first", 1, 503, "SlowDown"))
        require(running.get(path("here.bmp"))[2] == content, "a read behind one SlowDown")
        bucket.relay.set(("first", 3, 503, "SlowDown"))
        require(put(running, "here.bmp", content)[0] == 200, "a write behind three times SlowDown")
        bucket.relay.set(("slow", 0.05))
        require(running.get(path("here.bmp"), timeout=60)[2] == content, "a slow store")
        # A body that ends in the middle, behind a head that was answered: the connection ends, and no byte is wrong.
        bucket.relay.set("pass")
        require(running.get(path("here.bmp"))[2] == content, "it works again")
        for limit in [70_000, 200_000, 330_000]:
            bucket.relay.set(("cut", limit))
            connection = Connection(running, timeout=60)
            connection.head(path("here.bmp"), method="GET")
            data = b""
            while piece := connection.socket.recv(65536):
                data += piece
                # Over several connections to the store none may have become so long: then all of it comes.
                if len(data.partition(b"\r\n\r\n")[2]) >= len(content):
                    break
            head, _, body = data.partition(b"\r\n\r\n")
            require(head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")), f"cut {limit}: {head[:50]}")
            require(not head.startswith(b"HTTP/1.1 200") or content.startswith(body), f"cut {limit}: other bytes")
            connection.close()
        bucket.relay.set("pass")
        require(wait_until(lambda: put(running, "after.bmp", picture(32))[0] == 201, 20), "no upload afterwards")
        require(bucket.names() == ["after.bmp", "here.bmp"], f"{bucket.names()}")
        require(spool(folder) == [], f"left: {spool(folder)}")
        failed = sum(value for name, value in running.metrics().items()
                     if name.startswith("lookahead_media_store_requests_total") and 'outcome="failed"' in name)
    return f"{len(expected)} ways to fail, the slowest read answered in {slowest:.1f} s; {failed:.0f} tries counted"


def store_killed(program, folder, bucket):
    """The store goes and comes while uploads and reads are under way: what was answered is there, nothing is half there."""
    bucket.clear()
    content = random.Random(3).randbytes(6 << 20)
    bucket.put("read.bin", content)
    answered, statuses, wrong = {}, {}, []
    stop = threading.Event()
    with server(program, folder, "--media-probe-cpu-percent", "0") as running:
        def write(thread):
            number = 0
            while not stop.is_set():
                name, body = f"w{thread}-{number}.bmp", picture(thread * 1000 + number, rows=random.choice([2, 3000, 90_000]))
                number += 1
                try:
                    status, _ = put(running, name, body)
                except OSError:
                    status = None
                statuses[status] = statuses.get(status, 0) + 1
                if status == 201:
                    answered[name] = body
                else:
                    time.sleep(0.05)

        def read():
            while not stop.is_set():
                start = random.randrange(len(content))
                end = min(len(content), start + random.choice([1, 100_000, 3_000_000]))
                connection = Connection(running, timeout=60)
                connection.head(path("read.bin"), method="GET", fields=[("Range", f"bytes={start}-{end - 1}")])
                data = b""
                try:
                    while piece := connection.socket.recv(65536):
                        data += piece
                        head, _, body = data.partition(b"\r\n\r\n")
                        if head.startswith(b"HTTP/1.1 503") or len(body) >= end - start:
                            break
                except OSError:
                    pass
                connection.close()
                head, _, body = data.partition(b"\r\n\r\n")
                if head.startswith(b"HTTP/1.1 206") and not content[start:end].startswith(body):
                    wrong.append((start, end))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        threads += [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        kills = 0
        for _ in range(8):
            time.sleep(random.uniform(0.5, 1.5))
            bucket.relay.set("gone")
            time.sleep(random.uniform(0.1, 2))
            bucket.relay.set("pass")
            kills += 1
        time.sleep(1)
        stop.set()
        for thread in threads:
            thread.join()
        require(not wrong, f"other bytes were read: {wrong}")
        require(set(statuses) <= {201, 503}, f"{statuses}")
        require(answered, "nothing was stored")
        for name, body in answered.items():
            require(bucket.get(name) == body, f"{name} was answered and is another one")
        for name in bucket.names():
            thread, number = re.fullmatch(r"w(\d+)-(\d+)\.bmp", name).groups() if name != "read.bin" else (0, 0)
            if name != "read.bin":
                body = bucket.get(name)
                first = picture(int(thread) * 1000 + int(number), rows=(len(body) - 54) // 192)
                require(body == first, f"{name} is half there")
        require(wait_until(lambda: spool(folder) == [], 20), f"left: {spool(folder)}")
    return f"{kills} times away; answers {statuses}, {bucket.unfinished()} unfinished uploads in parts"


def server_killed(program, folder, bucket):
    """The server is killed while uploads go to the store: the next one cleans up, and what was answered is there."""
    answered, kills = {}, 4
    with server(program, folder, "--media-probe-cpu-percent", "0", "--partial-upload-seconds", "1") as running:
        for number in range(kills):
            # Of one part and of two.
            sent = {f"k{number}-{index}.bmp": picture(9000 + 100 * number + index, rows=100 if index % 3 else 90_000)
                    for index in range(12)}

            def send(name, content):
                try:
                    if put(running, name, content)[0] == 201:
                        answered[name] = content
                except OSError:
                    pass
            threads = [threading.Thread(target=send, args=item) for item in sent.items()]
            for thread in threads:
                thread.start()
            before = len(answered)
            wait_until(lambda: bucket.unfinished() > 0 and len(answered) > before, 60, 0.01)
            time.sleep(random.uniform(0, 0.4))
            running.kill()
            for thread in threads:
                thread.join()
            running.start()
            require(spool(folder) == [], f"left behind: {spool(folder)}")
            for name in set(bucket.names()) & set(sent):
                require(bucket.get(name) == sent[name], f"{name} is half there")
        left = bucket.unfinished()
        time.sleep(2)
        running.kill()
        running.start()
        require(wait_until(lambda: bucket.unfinished() == 0, 30), "uploads in parts stay unfinished")
    for name, content in answered.items():
        require(bucket.get(name) == content, f"{name} was answered and is lost")
    return f"{kills} kills, {len(answered)} answered uploads kept, {left} unfinished ones given up"


def beside(program, folder, bucket, count):
    """Many at once, to the store: within bounds, those that are refused hear when to come back, and are not there."""
    bucket.clear()
    outcomes = [None] * count
    with server(program, folder, "--maximum-media-uploads", "8", "--media-upload-queue", str(count // 2),
                "--media-probe-cpu-percent", "0", "--media-store-timeout-milliseconds", "60000") as running:
        def send(index):
            connection = Connection(running, timeout=600)
            content = picture(index)
            connection.head(path(f"many/{index}.bmp"), len(content))
            connection.send(content)
            data = b""
            while b"\r\n\r\n" not in data:
                piece = connection.socket.recv(65536)
                if not piece:
                    break
                data += piece
            outcomes[index] = data
            connection.close()

        threads = [threading.Thread(target=send, args=(index,)) for index in range(count)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - start
        stored = {f"many/{index}.bmp" for index, data in enumerate(outcomes) if data.startswith(b"HTTP/1.1 201")}
        refused = [data for data in outcomes if not data.startswith(b"HTTP/1.1 201")]
        require(all(data.startswith(b"HTTP/1.1 503") and b"Retry-After: " in data for data in refused),
                f"{[data[:40] for data in refused if not data.startswith(b'HTTP/1.1 503')][:3]}")
        require(set(bucket.names()) == stored, "what was refused is there, or what was stored is not")
        for index in random.sample(range(count), min(count, 50)):
            if f"many/{index}.bmp" in stored:
                require(bucket.get(f"many/{index}.bmp") == picture(index), f"{index} is another one")
        require(spool(folder) == [], f"left: {spool(folder)}")
    return f"{count} at once in {seconds:.1f} s: {len(stored)} stored, {len(refused)} refused with Retry-After"


def full_spool(program, folder, bucket):
    """A full disk under the spool folder."""
    bucket.clear()
    small = pathlib.Path(folder) / "spool"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], capture_output=True)
    if mounted.returncode != 0:
        raise Skipped("no file system can be mounted")
    try:
        with server(program, folder, "--media-spool-folder", str(small)) as running:
            require(put(running, "fits.bmp", picture(1, rows=2000))[0] == 201, "a file that fits")
            status, problem = put(running, "more.bmp", picture(2, rows=8000))
            require(status == 507 and problem["type"].endswith(":storage-full"), f"full: {status} {problem}")
            require(bucket.names() == ["fits.bmp"], f"{bucket.names()}")
            require(put(running, "next.bmp", picture(3))[0] == 201, "the next one")
    finally:
        subprocess.run(["umount", str(small)], check=True)
    return "507 and nothing left"


def delivered(program, folder, bucket):
    """Signed URLs: by redirection, and in items; each leads to the bytes, and holds longer than pages are kept."""
    bucket.clear()
    clip = (FIXTURES / "media/first-ferry/0.mp4").read_bytes()
    bucket.put("first-ferry/0.mp4", clip)
    bucket.put("ü b/é.bmp", picture(1), "text/html")

    def follow(url, method="GET", fields=()):
        request = urllib.request.Request(url, method=method, headers=dict(fields))
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    with server(program, folder, "--media-delivery", "redirect") as running:
        for name, content in [("first-ferry/0.mp4", clip), ("ü b/é.bmp", picture(1))]:
            status, fields, body = running.get(path(name))
            require(status == 307 and body == b"", f"{name}: {status}")
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(fields["Location"]).query)
            holds, kept = int(query["X-Amz-Expires"][0]), int(re.search(r"max-age=(\d+)", fields["Cache-Control"])[1])
            require(21600 <= holds <= 21600 + 3600 and kept <= holds / 2, f"holds {holds}, kept {kept}")
            status, _, body = follow(fields["Location"], fields=[("Range", "bytes=1-4")])
            require(status == 206 and body == content[1:5], f"{name}: {status}")
            # What moto does not do with it, S3 does: it says this and not what was said with the object.
            require(query["response-content-type"] in (["video/mp4"], ["image/bmp"]), f"{query}")
            status, head, _ = running.ask("HEAD", path(name))
            require(status == 307 and follow(head["Location"], "HEAD")[0] == 200, f"HEAD: {status}")
        require(running.get(path(".hidden"))[0] == 404, "a hidden name is signed")
        pages = json.loads(running.get("/rp/?feed=featured&limit=30")[2])
        require("expiresAt" not in json.dumps(pages), "pages have other URLs")
    with server(program, folder, "--media-delivery", "direct") as running:
        text = running.get("/rp/?feed=featured&limit=30")[2]
        files = [one for item in json.loads(text)["items"] for one in item.get("media", [])]
        ours = [one for one in files if "/first-ferry/0.mp4?" in one["url"]]
        require(ours and ours[0]["url"].startswith(f"http://127.0.0.1:{bucket.relay.port}/") and ours[0]["expiresAt"],
                f"{files[:1]}")
        require(follow(ours[0]["url"])[2] == clip, "another file")
        require(running.get("/rp/?feed=featured&limit=30")[2] == text, "each page has other URLs")
        require(running.get(path("first-ferry/0.mp4"))[0] == 307, "redirected, too")
    return "redirections and items with URLs of the store; types by names"


def away_at_start(program, folder, bucket):
    """A store that is away at the start keeps nobody from pages, and is used when it is back."""
    bucket.put("first-ferry/0.mp4", picture(1))
    bucket.relay.set("gone")
    with server(program, folder) as running:
        require(running.get("/rp/?feed=featured&limit=3")[0] == 200, "no page")
        require(running.get(path("first-ferry/0.mp4"))[0] == 503, "no 503")
        bucket.relay.set("pass")
        require(wait_until(lambda: running.get(path("first-ferry/0.mp4"))[0] == 200, 20), "not used again")
    return "pages at once, files when it is back"
