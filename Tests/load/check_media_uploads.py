"""Media files put over HTTP: whole and known, or not there at all. See script/check-media-uploads."""

import base64
import hashlib
import json
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from checks import Checks, Skipped, require
from running import TOKEN, RunningServer, wait_until


def picture(number, rows=2):
    """A bitmap of 64 pixels in each of this many rows; each number has another."""
    pixels = struct.pack("<I", number) + bytes([90]) * (192 * rows - 4)
    return (b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + len(pixels), 0, 54, 40, 64, rows, 1, 24, 0, len(pixels),
                                2835, 2835, 0, 0) + pixels)


def digest(content):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


class Connection:
    """One connection, on which bytes are sent as they are."""

    def __init__(self, server, timeout=600):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout)

    def head(self, path, length=None, fields=(), version="1.1", method="PUT", token=TOKEN):
        lines = [f"{method} {path} HTTP/{version}", "Host: localhost", f"Authorization: Bearer {token}"]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        lines += [f"{name}: {value}" for name, value in fields]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self):
        """The final answer: status, and the body as JSON."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.socket.recv(65536)
            if not piece:
                return None, {}
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                       if line.lower().startswith(b"content-length:")), 0)
        while len(body) < length:
            piece = self.socket.recv(65536)
            if not piece:
                break
            body += piece
        return status, json.loads(body) if body[:1] == b"{" else {}

    def close(self):
        self.socket.close()


def put(server, name, content, fields=(), **more):
    connection = Connection(server)
    try:
        connection.head(f"/media/{name}", len(content), fields, **more)
        connection.send(content)
        return connection.answer()
    finally:
        connection.close()


def files(media):
    """All there is, hidden files among it, but for the locks."""
    return sorted(str(path.relative_to(media)) for path in pathlib.Path(media).rglob("*")
                  if path.is_file() and path != pathlib.Path(media) / ".uploads" / "lock")


def sizes(server, media):
    content = picture(1)
    limit = len(content)
    for size, expected in [(0, 415), (1, 415), (limit - 1, 422), (limit, 201), (limit + 1, 413)]:
        status, problem = put(server, "size.bmp", (content + b"\0")[:size])
        require(status == expected, f"{size} bytes: {status} {problem}")
    require(files(media) == ["size.bmp"], f"{files(media)}")
    return f"0, 1, {limit - 1}, {limit}, {limit + 1} bytes at a limit of {limit}"


def forms(server, media):
    content = picture(2)
    for version in ["1.0", "1.1"]:
        status, answer = put(server, f"v{version[-1]}.bmp", content, version=version)
        require(status == 201 and answer["digest"] == digest(content), f"HTTP/{version}: {status} {answer}")
    connection = Connection(server)
    connection.head("/media/chunks.bmp", fields=[("Transfer-Encoding", "chunked")])
    for index in range(0, len(content), 7):
        piece = content[index:index + 7]
        connection.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    connection.send(b"0\r\n\r\n")
    status, answer = connection.answer()
    require(status == 201 and answer["digest"] == digest(content), f"chunks: {status} {answer}")
    connection = Connection(server)
    connection.head("/media/asked.bmp", len(content), [("Expect", "100-continue")])
    require(connection.answer()[0] == 100, "no 100 Continue")
    connection.send(content)
    require(connection.answer()[0] == 201, "nothing behind 100 Continue")
    connection = Connection(server)
    connection.head("/media/../x.bmp", len(content), [("Expect", "100-continue")])
    require(connection.answer()[0] == 400, "a body was asked for that is of no use")
    connection = Connection(server)
    connection.head("/media/slow.bmp", len(content))
    for index in range(0, len(content), 100):
        connection.send(content[index:index + 100])
        time.sleep(0.05)
    require(connection.answer()[0] == 201, "a slow body was refused")
    require(server.get("/media/slow.bmp")[2] == content, "a slow body is another one")
    return "HTTP/1.0, chunks, 100-continue, slow"


def refusals(server, media):
    before = files(media)
    content = picture(3)
    for name in ["../a.bmp", "a/%2e%2e/b.bmp", "%2e.bmp", ".a.bmp", "a%00.bmp", "a%0a.bmp", "a%ff.bmp", "a//b.bmp",
                 "a%2fb.bmp", "a" * 300 + ".bmp", "d/" * 40 + "a.bmp", "_renditions/a.bmp", "a.bmp.partial"]:
        status, problem = put(server, name, content)
        require(status in (400, 404), f"{name}: {status} {problem}")
    for name, body in [("a.svg", b"<svg/>"), ("a.png", b"<html>"), ("a.js", b"alert(1)"), ("a.bmp", b"\x7fELF\1\1"),
                       ("a.png", content)]:
        status, problem = put(server, name, body)
        require(status == 415, f"{name}: {status} {problem}")
    status, problem = put(server, "a.bmp", content, [("Repr-Digest", digest(b"another"))])
    require(status == 400 and digest(content) in problem["detail"] and digest(b"another") in problem["detail"],
            f"wrong digest: {status} {problem}")
    require(put(server, "a.bmp", content, token="wrong-token")[0] == 401, "a wrong token")
    require(files(media) == before, f"something is left: {set(files(media)) - set(before)}")
    return f"{13 + 5 + 2} requests, nothing left"


def cuts(server, media):
    before = files(media)
    content = picture(4)
    for count in range(0, len(content), 9):
        connection = Connection(server)
        connection.head("/media/cut.bmp", len(content))
        connection.send(content[:count])
        connection.close()
    require(put(server, "whole.bmp", content)[0] == 201, "an upload after those")
    expected = sorted({*before, "whole.bmp"})
    require(wait_until(lambda: files(media) == expected, 60), f"left: {set(files(media)) - set(expected)}")
    return f"{len(range(0, len(content), 9))} bodies cut off, nothing left"


def beside(server, media, count):
    """All at once, each on a connection of its own; those of one name in ten are all for the same file."""
    outcomes = [None] * count

    def send(index):
        name = "same.bmp" if index % 10 == 0 else f"many/{index}.bmp"
        outcomes[index] = put(server, name, picture(1000 + index))

    start = time.monotonic()
    threads = [threading.Thread(target=send, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - start
    for index, outcome in enumerate(outcomes):
        require(outcome and outcome[0] in (200, 201), f"upload {index}: {outcome}")
        content = picture(1000 + index)
        require(outcome[1]["digest"] == digest(content), f"upload {index} has another digest")
        if index % 10:
            require(server.get(f"/media/many/{index}.bmp")[2] == content, f"upload {index} is another file")
    require(server.get("/media/same.bmp")[2] in [picture(1000 + index) for index in range(0, count, 10)],
            "the file of many writers is none of theirs")
    require(not [name for name in files(media) if name.startswith(".uploads")], "something is left")
    return f"{count} at once in {seconds:.1f} s, each whole"


def kills(server, media):
    """What was answered is there after a kill, and of the rest nothing that is no whole file."""
    generator = random.Random(7)
    answered, rounds = {}, 5
    for number in range(rounds):
        sent = {f"kill/{number}-{index}.bmp": picture(5000 + 100 * number + index, rows=400) for index in range(20)}

        def send(name, content):
            try:
                status, _ = put(server, name, content)
            except OSError:
                return
            if status == 201:
                answered[name] = content

        threads = [threading.Thread(target=send, args=item) for item in sent.items()]
        for thread in threads:
            thread.start()
        before = len(answered)
        wait_until(lambda: len(answered) > before, 60, 0.01)
        time.sleep(generator.uniform(0, 0.5))
        server.kill()
        for thread in threads:
            thread.join()
        server.start()
        left = [name for name in files(media) if name.startswith(".uploads")]
        require(not left, f"left behind: {left}")
        for name, content in sent.items():
            path = pathlib.Path(media) / name
            require(not path.exists() or path.read_bytes() == content, f"{name} is half there")
    for name, content in answered.items():
        require((pathlib.Path(media) / name).read_bytes() == content, f"{name} was answered and is lost")
    return f"{rounds} kills, {len(answered)} answered uploads kept"


class Upload:
    """A client of draft-ietf-httpbis-resumable-upload-12: it begins an upload, asks how far it is, and goes on."""

    def __init__(self, server, content):
        self.server, self.content, self.url = server, content, None

    def fields(self, connection):
        """The head of the next answer, an interim one too: status, fields by their lower-case names."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.socket.recv(1)
            if not piece:
                return None, {}
            data += piece
        lines = data.decode("latin-1").split("\r\n")
        pairs = (line.split(":", 1) for line in lines[1:] if ":" in line)
        return int(lines[0].split()[1]), {name.lower(): value.strip() for name, value in pairs}

    def begin(self, name, cut, fields=()):
        """Sends all at once, as far as `cut`; keeps the URL of the interim answer."""
        connection = Connection(self.server)
        connection.head(f"/media/{name}", len(self.content),
                        [("Upload-Complete", "?1"), ("Upload-Draft-Interop-Version", "9"), *fields])
        status, said = self.fields(connection)
        require(status == 104 and said["upload-draft-interop-version"] == "9", f"interim: {status} {said}")
        self.url = said["location"]
        connection.send(self.content[:cut])
        return connection

    def offset(self):
        connection = Connection(self.server)
        connection.head(self.url, method="HEAD")
        status, said = self.fields(connection)
        connection.close()
        require(status in (204, 404), f"HEAD: {status} {said}")
        return (int(said["upload-offset"]), said["upload-complete"] == "?1") if status == 204 else None

    def append(self, start, end, cut=None, fields=()):
        """Sends the bytes from `start` to `end`, or fewer; the answer, where it waits for one."""
        connection = Connection(self.server)
        try:
            connection.head(self.url, end - start, [
                ("Content-Type", "application/partial-upload"), ("Upload-Offset", start),
                ("Upload-Complete", "?1" if end == len(self.content) else "?0"), *fields], method="PATCH")
            connection.send(self.content[start:end if cut is None else cut])
            return connection.answer() if cut is None else (None, {})
        finally:
            connection.close()


def resumed(server, media):
    """Cut off at every part, of each request, and continued from where the server says."""
    random_cuts = random.Random(9)
    content = picture(500, rows=3)
    cuts = sorted({0, 1, 53, 54, len(content) - 1} | {random_cuts.randrange(len(content)) for _ in range(60)})
    for number, cut in enumerate(cuts):
        upload = Upload(server, picture(500 + number, rows=3))
        connection = upload.begin(f"r{number}.bmp", cut)
        connection.close()
        told = 0
        while True:
            state = upload.offset()
            require(state is not None and told <= state[0] <= len(content), f"{cut}: {state} after {told}")
            told = state[0]
            if random_cuts.random() < 0.5 and told < len(content) - 1:
                end = random_cuts.randrange(told + 1, len(content))
                if random_cuts.random() < 0.5:
                    upload.append(told, end, cut=random_cuts.randrange(told, end + 1))
                else:
                    status, problem = upload.append(told, end)
                    # A request whose connection was closed may be taken in only now: its bytes count, too.
                    require(status in (204, 409), f"{cut}: a part: {status} {problem}")
                    told = end if status == 204 else told
                continue
            status, answer = upload.append(told, len(content))
            if status == 409:
                require(upload.offset()[0] >= told, f"{cut}: {answer}")
                continue
            require(status == 201 and answer["digest"] == digest(upload.content), f"{cut}: {status} {answer}")
            break
        require(upload.offset() == (len(content), True), f"{cut}: {upload.offset()}")
        require(server.get(f"/media/r{number}.bmp")[2] == upload.content, f"{cut}: other bytes")
    left = [name for name in files(media) if name.startswith(".uploads/part-") and not name.endswith(".note")]
    require(left == [], f"left: {left}")
    return f"cut off at {len(cuts)} places, and at others later; no offset went back"


def large_resumed(server, media):
    """Many megabytes: progress is told, a wrong offset and a wrong digest change nothing."""
    upload = Upload(server, picture(700, rows=250_000))
    size = len(upload.content)
    connection = upload.begin("large.bmp", size // 2)
    offsets = []
    while len(offsets) < 1:
        status, said = upload.fields(connection)
        require(status == 104 and "location" not in said, f"progress: {status} {said}")
        offsets.append(int(said["upload-offset"]))
    connection.close()
    require(offsets == sorted(offsets) and offsets[0] >= 16 << 20, f"progress: {offsets}")
    here = upload.offset()[0]
    require(here >= offsets[-1], f"{here} is less than was told: {offsets}")
    status, problem = upload.append(here + 1, size)
    require(status == 409 and problem["expected-offset"] == here, f"wrong offset: {status} {problem}")
    status, problem = upload.append(here, here + 1000, fields=[("Content-Digest", digest(b"other"))])
    require(status == 400 and problem["type"].endswith(":wrong-digest"), f"wrong digest: {status} {problem}")
    require(upload.offset()[0] == here, "a body with a wrong digest was appended")
    status, answer = upload.append(here, size)
    require(status == 201 and answer["digest"] == digest(upload.content), f"large: {status} {answer}")
    return f"{size >> 20} MiB, progress told at {[offset >> 20 for offset in offsets]} MiB"


def killed_resumed(server, media):
    """The server is killed while uploads are under way: what it told is there when it is back."""
    uploads = [Upload(server, picture(800 + number, rows=2000)) for number in range(8)]
    size = len(uploads[0].content)
    kills = 0
    told = [0] * len(uploads)
    random_cuts = random.Random(10)
    for number, upload in enumerate(uploads):
        upload.begin(f"k{number}.bmp", 1000).close()
    while any(offset < size for offset in told):
        sending = []
        for number, upload in enumerate(uploads):
            if told[number] == size:
                continue
            here, isComplete = upload.offset()
            require(told[number] <= here, f"{number}: {here}, and was {told[number]}")
            told[number] = size if isComplete else here
            if not isComplete:
                connection = Connection(server)
                connection.head(upload.url, size - here, [
                    ("Content-Type", "application/partial-upload"), ("Upload-Offset", here),
                    ("Upload-Complete", "?1")], method="PATCH")
                connection.send(upload.content[here:here + random_cuts.randrange(1, 200_000)])
                sending.append(connection)
        if not sending:
            break
        time.sleep(random_cuts.random() * 0.1)
        server.kill()
        server.start()
        kills += 1
        for connection in sending:
            connection.close()
    for number, upload in enumerate(uploads):
        here, isComplete = upload.offset()
        if not isComplete:
            require(upload.append(here, size)[0] in (200, 201), f"{number}: not finished")
        require(server.get(f"/media/k{number}.bmp")[2] == upload.content, f"{number}: other bytes")
    return f"{len(uploads)} uploads, {kills} kills"


def two_at_once(server, media):
    """Two that append to one upload: one is ended, nothing is mixed."""
    for number in range(20):
        upload = Upload(server, picture(900 + number, rows=50))
        size = len(upload.content)
        upload.begin(f"t{number}.bmp", 100).close()
        here = upload.offset()[0]
        said = []
        threads = [threading.Thread(target=lambda: said.append(upload.append(here, size)[0])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require(said.count(201) <= 1 and set(said) <= {201, 400, 409, 410, None}, f"{number}: {said}")
        here, isComplete = upload.offset()
        if not isComplete:
            require(upload.append(here, size)[0] == 201, f"{number}: not finished")
        require(server.get(f"/media/t{number}.bmp")[2] == upload.content, f"{number}: other bytes")
    return "20 times four at once"


def documented(server, media):
    """The commands of docs/media.md, typed as they stand there; the last two are repeated when they are cut off."""
    text = (pathlib.Path(__file__).parents[2] / "docs/media.md").read_text()
    block = re.search(r"### Continue an upload.*?```sh\n(.*?)```", text, re.DOTALL)[1]
    block = block.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
    begin, more = block.split("offset=$(", 1)
    more = "offset=$(" + more
    with tempfile.TemporaryDirectory() as folder:
        clip = pathlib.Path(__file__).parents[2] / "Fixtures/media/loom/0.mp4"
        (pathlib.Path(folder) / "clip.mp4").write_bytes(clip.read_bytes())
        # The first time, curl sends a part and is cut off.
        cut = more.replace("-T -", "-T - --limit-rate 2000 --max-time 2") + "\ntrue\n"
        done = subprocess.run(
            ["bash", "-c", f'set -e; auth="Authorization: Bearer {TOKEN}"\n{begin}\nset +e\n{cut}\nset -e\n{more}'],
            cwd=folder, capture_output=True, text=True, timeout=120)
    require(done.returncode == 0, f"{done.stdout}{done.stderr}")
    require('"path":"/media/trips/clip.mp4"' in done.stdout and '"headBytes"' in done.stdout, done.stdout)
    require(server.get("/media/trips/clip.mp4")[2] == clip.read_bytes(), "another file")
    return "typed by bash, cut off, typed again"


def full_disk(program, folder):
    media = pathlib.Path(folder) / "small"
    media.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(media)], capture_output=True)
    if mounted.returncode != 0:
        raise Skipped("no file system can be mounted")
    try:
        (pathlib.Path(folder) / "full").mkdir()
        with RunningServer(program, pathlib.Path(folder) / "full", media=media) as server:
            # 192 bytes a row.
            require(put(server, "fits.bmp", picture(1, rows=2000))[0] == 201, "a file that fits")
            status, problem = put(server, "more.bmp", picture(2, rows=5000))
            require(status == 507 and problem["type"].endswith(":storage-full"), f"full: {status} {problem}")
            require(files(media) == ["fits.bmp"], f"left: {files(media)}")
            require(put(server, "next.bmp", picture(3))[0] == 201, "the next one")
        subprocess.run(["mount", "-o", "remount,ro", str(media)], check=True)
        with RunningServer(program, pathlib.Path(folder) / "full", media=media) as server:
            status, problem = put(server, "never.bmp", picture(4))
            require(status == 403 and problem["type"].endswith(":writes-off"), f"read only: {status} {problem}")
            require("uploads of media files are refused" in server.log.read_text(), "the log does not say so")
    finally:
        subprocess.run(["umount", str(media)], check=True)
    return "507 and nothing left; 403 on a read-only file system, said at the start"


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        media = pathlib.Path(folder) / "media"
        media.mkdir()
        (pathlib.Path(folder) / "limited").mkdir()
        limited = RunningServer(
            program, pathlib.Path(folder) / "limited", "--media-upload-bytes", str(len(picture(1))), media=media)
        with limited as server:
            checks.run("sizes", sizes, server, media)
        # However busy the machine is.
        with RunningServer(program, folder, "--answer-timeout-milliseconds", "600000", media=media) as server:
            checks.run("forms of a body", forms, server, media)
            checks.run("refusals", refusals, server, media)
            checks.run("cut off", cuts, server, media)
            checks.run("side by side", beside, server, media, count)
            checks.run("killed", kills, server, media)
            checks.run("continued by curl", documented, server, media)
            checks.run("continued", resumed, server, media)
            checks.run("continued, large", large_resumed, server, media)
            checks.run("continued, two at once", two_at_once, server, media)
            checks.run("continued behind kills", killed_resumed, server, media)
        checks.run("full disk", full_disk, program, folder)
    sys.exit(checks.status())


if __name__ == "__main__":
    main()
