"""ffmpeg and Chromium, which play a media file and seek in it."""

import http.server
import json
import pathlib
import queue
import shutil
import subprocess
import threading
from urllib.parse import quote

from checks import Skipped, require
from media_files import run_ffmpeg
from running import wait_until

PAGE = pathlib.Path(__file__).parent / "video.html"


def new_media_requests(server, count_before):
    """The requests of media since then, once the log has them."""
    wait_until(lambda: len(server.requests()) > count_before, 5)
    return [r for r in server.requests()[count_before:] if r["path"].startswith("/media/")]


def ffprobe_reads(server, media):
    """ffprobe says the same of the URL as of the file."""
    if not shutil.which("ffprobe"):
        raise Skipped("there is no ffprobe")

    def probed(source):
        done = subprocess.run(
            ["ffprobe", "-v", "error", "-of", "json", "-show_streams", source],
            capture_output=True, timeout=60)
        require(done.returncode == 0 and not done.stderr, done.stderr.decode())
        return json.loads(done.stdout)

    before = len(server.requests())
    there, here = probed(server.url("/media/short.mp4")), probed(str(media / "short.mp4"))
    require(there == here, "other streams than in the file")
    statuses = [r["status"] for r in new_media_requests(server, before)]
    return f"{len(there['streams'])} streams; statuses {statuses}"


def ffmpeg_seeks(server, media):
    """A frame in the middle is the same frame, and was reached with ranges."""
    sums = []
    before = len(server.requests())
    for source in [server.url("/media/long.mp4"), str(media / "long.mp4")]:
        sums.append(run_ffmpeg(
            "-ss", "200", "-i", source, "-frames:v", "5", "-an", "-f", "framemd5", "-"))
    require(sums[0] == sums[1] and sums[0].count(b"\n") > 5, "other frames than in the file")
    requests = new_media_requests(server, before)
    ranges = sum(r["status"] == 206 for r in requests)
    require(ranges >= 2, f"statuses {[r['status'] for r in requests]}")
    sent = sum(r["bytes"] for r in requests)
    size = (media / "long.mp4").stat().st_size
    require(sent < size, f"{sent} bytes sent of {size}")
    return f"{ranges} ranges, {sent} of {size} bytes sent"


class ResultPage(http.server.BaseHTTPRequestHandler):
    """Hands out the page with the video, and takes what the page reports."""

    def do_GET(self):
        body = PAGE.read_bytes() if self.path.startswith("/video.html") else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.server.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def chromium_seeks(server, folder):
    """A <video> on a page of another origin plays, and seeks in a file that is not loaded whole."""
    program = shutil.which("chromium")
    if not program:
        raise Skipped("there is no chromium")
    page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ResultPage)
    page.results = queue.Queue()
    threading.Thread(target=page.serve_forever, daemon=True).start()
    before = len(server.requests())
    source = quote(server.url("/media/long.mp4"), safe="")
    browser = subprocess.Popen(
        [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--autoplay-policy=no-user-gesture-required",
         f"--user-data-dir={folder / 'chromium'}",
         f"http://127.0.0.1:{page.server_port}/video.html?src={source}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        result = page.results.get(timeout=90)
    except queue.Empty:
        require(False, "the page reported nothing within 90 s")
    finally:
        browser.terminate()
        try:
            browser.wait(timeout=15)
        except subprocess.TimeoutExpired:
            browser.kill()
            browser.wait()
        page.shutdown()
        page.server_close()
    require("error" not in result, f"{result}")
    duration, far, near = result["duration"], result["far"], result["near"]
    require(abs(far - 0.8 * duration) < 1 and abs(near - 0.3 * duration) < 1, f"{result}")
    statuses = [r["status"] for r in new_media_requests(server, before)]
    require(statuses.count(206) >= 2, f"statuses {statuses}")
    return f"{duration:.0f} s long, sought to {far:.0f} s and {near:.0f} s; statuses {statuses}"
