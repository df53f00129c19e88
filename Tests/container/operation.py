"""A server in its container: started, asked, looked at, stopped."""

import json
import pathlib
import re
import threading
import time

import images
from checks import require
from content import health_check
from server import Server

IMAGE = images.IMAGE
TOKEN = "token-of-the-tests-0123456789"
PAGE = "/rp/?feed=featured&limit=30"


def seeds(engine):
    """The fixtures of the image, into a volume that does not exist yet."""
    status, output, errors = engine.once(IMAGE, "seed", options=["--volume=data:/data"])
    require(status == 0, errors)
    again, second, errors = engine.once(IMAGE, "seed", options=["--volume=data:/data"])
    require(again == 0 and "nothing changed" in second, second + errors)
    return output.strip().splitlines()[-1]


def seeds_from_input(engine):
    """Records of one's own, from standard input."""
    record = json.dumps({"id": "own", "type": "text", "feeds": [{"name": "own"}]})
    status, output, errors = engine.once(
        IMAGE, "seed", "-", options=["--volume=own:/data"], input=record + "\n")
    require(status == 0 and output.startswith("1 added"), output + errors)
    status, output, errors = engine.once(IMAGE, "export", options=["--volume=own:/data"])
    require(status == 0 and '"own"' in output, output + errors)


def serves(engine):
    """A page, a range of a media file, and what is not there; how long it took to be ready."""
    media = make_media(engine)
    with Server(engine, IMAGE, "data", f"--volume={media}:/media:ro") as server:
        status, body, fields = server.get(PAGE)
        page = json.loads(body)
        require(status == 200 and len(page["items"]) == 30, f"status {status}")
        status, body, fields = server.get("/media/film.mp4", "--range", "4-7")
        require(status == 206 and body == "ftyp", f"status {status}, {body!r}")
        require(fields["content-range"] == "bytes 4-7/4096", str(fields))
        require(server.get("/media/none.mp4")[0] == 404, "a file that is not there")
        require(server.get("/healthz")[0] == 200, "/healthz")
        return f"ready {server.ready_milliseconds:.0f} ms after `podman run`"


def serves_the_fixtures(engine):
    """Every file that the first page names, where no folder of one's own is mounted."""
    with Server(engine, IMAGE, "data") as server:
        # Servers before had other folders, in which these files were not: this one looks for them first.
        end = time.monotonic() + 60
        while True:
            items = json.loads(server.get(PAGE)[1])["items"]
            parts = [part for item in items for part in item.get("media", [])]
            require(parts, "the page names no files")
            if all("bytes" in part for part in parts):
                break
            require(time.monotonic() < end, "what was gone is not found again")
            time.sleep(0.5)
        for part in parts:
            status, _, fields = server.get(part["url"], "--head")
            require(status == 200 and int(fields["content-length"]) == part["bytes"],
                    f"{part['url']}: status {status}, {fields}")
            require(fields["content-type"] == part["mimeType"], f"{part['url']}: {fields}")
    return f"{len(parts)} files, {sum(part['bytes'] for part in parts) / 1e6:.1f} MB"


def make_media(engine):
    folder = engine.folder / "media"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    film = b"\0\0\0\x18ftypmp42" + b"\0" * 4084
    (folder / "film.mp4").write_bytes(film)
    return folder


def is_confined(engine):
    """Process 1, not root, without capabilities, on a root that nobody can write to."""
    with Server(engine, IMAGE, "data") as server:
        process = pathlib.Path(f"/proc/{server.pid()}")
        lines = (process / "status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        require(status["Uid"].split() == ["10001"] * 4, status["Uid"])
        require(status["NSpid"].split()[-1] == "1", status["NSpid"])
        require(int(status["CapEff"], 16) == 0, status["CapEff"])
        require(status["NoNewPrivs"].strip() == "1", status["NoNewPrivs"])
        root = next(line for line in (process / "mountinfo").read_text().splitlines()
                    if line.split()[4] == "/")
        require("ro" in root.split()[5].split(","), root)
        memory = (process / "smaps_rollup").read_text()
        resident, anonymous = (
            int(re.search(rf"^{name}:\s+(\d+)", memory, re.M)[1]) / 1024 for name in ["Rss", "Anonymous"])
    return f"at rest {resident:.1f} MiB resident, {anonymous:.1f} MiB of them without a file"


def is_healthy(engine):
    """The image's HEALTHCHECK in the container: well, then with a server that does not answer."""
    with Server(engine, IMAGE, "data") as server:
        status, output = server.execute(*health_check(engine))
        require(status == 0, output)
        engine.podman("healthcheck", "run", server.name)
    absent, output, errors = engine.once(IMAGE, "health")
    require(absent == 1 and "127.0.0.1:8080" in errors, f"status {absent}: {output}{errors}")
    return errors.strip()


def drains(engine):
    """SIGTERM to process 1 in the middle of an import: it is finished, and the status is 0."""
    volume = "drained"
    with Server(engine, IMAGE, volume, f"--env=LOOKAHEAD_WRITE_TOKEN={TOKEN}") as server:
        code = UPLOAD.format(token=TOKEN)
        answer = {}

        def upload():
            answer["status"], answer["output"], answer["errors"] = engine.inside(
                "python3", "-c", code, timeout=60)

        thread = threading.Thread(target=upload)
        thread.start()
        time.sleep(1)
        seconds, status = server.stop()
        thread.join()
        require(status == 0, f"the container's status is {status}: {server.logs()[-500:]}")
        require(answer["output"].startswith("200"), answer["output"] + answer["errors"])
    status, output, errors = engine.once(IMAGE, "export", options=[f"--volume={volume}:/data"])
    require(output.count('"drained-') == 2, output + errors)
    with Server(engine, IMAGE, volume) as server:
        idle, status = server.stop()
        require(status == 0, f"status {status}")
    return f"after {seconds:.1f} s, of which the client took 3; idle after {idle * 1000:.0f} ms"


# An import of two records, the second of which is sent after the server was told to end.
UPLOAD = """
import http.client, json, time
def records():
    for number in range(2):
        if number: time.sleep(4)
        record = {{"id": f"drained-{{number}}", "type": "text", "feeds": [{{"name": "drained"}}]}}
        yield (json.dumps(record) + "\\n").encode()
connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=30)
connection.request("POST", "/v1/import", records(), encode_chunked=True, headers={{
    "Authorization": "Bearer {token}", "Content-Type": "application/x-ndjson",
    "Transfer-Encoding": "chunked"}})
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


def survives_a_kill(engine):
    """SIGKILL, and the volume is sound and served again."""
    with Server(engine, IMAGE, "data") as server:
        engine.podman("kill", "--signal", "KILL", server.name)
    status, output, errors = engine.once(IMAGE, "check", options=["--volume=data:/data"])
    require(status == 0, output + errors)
    with Server(engine, IMAGE, "data") as server:
        require(server.get(PAGE)[0] == 200, "a page")
    return output.strip()


CHECKS = {
    "the fixtures, seeded twice": seeds,
    "records from standard input": seeds_from_input,
    "a page, a range, health": serves,
    "the fixtures' files": serves_the_fixtures,
    "read-only, not root, no capabilities": is_confined,
    "the health check": is_healthy,
    "SIGTERM to process 1": drains,
    "SIGKILL": survives_a_kill,
}
