"""curl against the server itself."""

import json
import subprocess

from checks import require
from running import FIXTURES, TOKEN

PAGE = "/rp/?feed=featured&limit=30"


class Curl:
    def __init__(self, server, folder, media):
        self.server = server
        self.folder = folder
        self.media = media

    def checks(self):
        """Each check by its name."""
        return {
            "curl, HTTP/1.0": self.old_version,
            "curl, one connection for several requests": self.kept_connection,
            "curl, ranges": self.ranges,
            "curl, a download that goes on": self.resumed_download,
            "curl, --compressed": self.compressed,
            "curl, an upload with Expect: 100-continue": self.expecting_upload,
            "curl, an upload refused before it is sent": self.refused_upload,
            "curl, a chunked upload": self.chunked_upload,
            "curl, -z": self.time_condition,
            "curl, --etag-compare": self.tag_condition,
        }

    def run(self, path, *arguments, output=None):
        """The values that curl writes out, by their names; the body goes to a file."""
        body = output or self.folder / "body"
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "20", "--path-as-is",
             "--write-out", "%{json}", "--output", str(body), *arguments, self.server.url(path)],
            capture_output=True, text=True, timeout=30)
        require(done.returncode == 0, f"curl: status {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout.splitlines()[-1]), body

    def status(self, expected, path, *arguments, **options):
        written, body = self.run(path, *arguments, **options)
        code = written["http_code"]
        require(code == expected, f"{path}: {code} in place of {expected}: {body.read_bytes()[:300]}")
        return written, body

    def old_version(self):
        written, body = self.status(200, PAGE, "--http1.0")
        count = len(json.loads(body.read_text())["items"])
        require(count == 30, f"{count} items")
        return f"answered in HTTP/{written['http_version']}"

    def kept_connection(self):
        urls = [self.server.url("/v1/feeds"), self.server.url("/v1/networks")]
        done = subprocess.run(
            ["curl", "-sf", "--max-time", "20", "-w", "%{num_connects} ", "-o", "/dev/null",
             self.server.url(PAGE), "-o", "/dev/null", urls[0], "-o", "/dev/null", urls[1]],
            capture_output=True, text=True, timeout=30)
        require(done.stdout.split() == ["1", "0", "0"], f"connections: {done.stdout}")

    def ranges(self):
        whole = (self.media / "short.mp4").read_bytes()
        size = len(whole)
        cases = {
            "0-0": whole[:1], "0-499": whole[:500], "1000-": whole[1000:], "-500": whole[-500:],
            f"{size - 1}-{size + 10}": whole[-1:],
        }
        for text, expected in cases.items():
            _, body = self.status(206, "/media/short.mp4", "--range", text)
            require(body.read_bytes() == expected, f"{text}: other bytes")
        written, body = self.status(206, "/media/short.mp4", "--range", "0-9,100-109")
        multipart = written["content_type"].startswith("multipart/byteranges")
        require(multipart and whole[100:110] in body.read_bytes(), "several ranges: other bytes")
        self.status(416, "/media/short.mp4", "--range", f"{size}-")
        return f"{len(cases)} single ones, several at once, one past the end"

    def resumed_download(self):
        whole = (self.media / "short.mp4").read_bytes()
        part = self.folder / "part"
        part.write_bytes(whole[:100_000])
        self.status(206, "/media/short.mp4", "--continue-at", "-", output=part)
        require(part.read_bytes() == whole, "other bytes")

    def compressed(self):
        _, plain = self.status(200, PAGE)
        expected = plain.read_bytes()
        sizes = []
        for coding in ["br, gzip", "gzip"]:
            written, body = self.status(
                200, PAGE, "--compressed", "-H", f"Accept-Encoding: {coding}")
            require(body.read_bytes() == expected, f"{coding}: other bytes")
            require(written["size_download"] < len(expected), f"{coding}: not compressed")
            sizes.append(f"{written['size_download']} with {coding}")
        return f"{len(expected)} bytes, " + ", ".join(sizes)

    def records(self):
        return b"".join(path.read_bytes() for path in sorted(FIXTURES.glob("*.ndjson")))

    def upload(self, expected, *arguments, data):
        fields = ["-H", "Content-Type: application/x-ndjson"]
        (self.folder / "upload").write_bytes(data)
        return self.status(
            expected, "/v1/import", "-X", "POST", *fields, "-T", str(self.folder / "upload"),
            *arguments)

    def expecting_upload(self):
        heads = self.folder / "heads"
        _, body = self.upload(
            200, "-H", f"Authorization: Bearer {TOKEN}", "-H", "Expect: 100-continue",
            "--expect100-timeout", "10", "-D", str(heads), data=self.records())
        require(heads.read_text().startswith("HTTP/1.1 100"), "no 100 Continue")
        return body.read_text()[:100]

    def refused_upload(self):
        heads = self.folder / "heads"
        written, _ = self.upload(
            401, "-H", "Expect: 100-continue", "--expect100-timeout", "10", "-D", str(heads),
            data=b"\n" * 3_000_000)
        require("HTTP/1.1 100" not in heads.read_text(), "100 Continue all the same")
        require(written["size_upload"] == 0, f"{written['size_upload']} bytes sent")

    def chunked_upload(self):
        (self.folder / "upload").write_bytes(self.records())
        with open(self.folder / "upload", "rb") as data:
            done = subprocess.run(
                ["curl", "-sS", "--max-time", "20", "-X", "POST", "-T", "-",
                 "-H", f"Authorization: Bearer {TOKEN}", "-H", "Content-Type: application/x-ndjson",
                 self.server.url("/v1/import")],
                stdin=data, capture_output=True, timeout=30)
        answer = json.loads(done.stdout)
        require(answer["refused"] == 0 and answer["unchanged"] > 0, done.stdout.decode())
        return f"{answer['unchanged']} unchanged"

    def time_condition(self):
        self.status(304, "/media/short.mp4", "-z", str(self.media / "short.mp4"))
        self.status(200, "/media/short.mp4", "-z", "1999-12-31")

    def tag_condition(self):
        tag = self.folder / "tag"
        for path in [PAGE, "/media/short.mp4"]:
            self.status(200, path, "--etag-save", str(tag))
            self.status(304, path, "--etag-compare", str(tag))
        self.status(200, "/v1/feeds", "--etag-compare", str(tag))
