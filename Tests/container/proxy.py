"""nginx with docker/nginx.conf in front of the server."""

import subprocess
import time

import images
from checks import require
from engine import NETWORK
from machine import run
from operation import PAGE, make_media
from server import Server

IMAGE = images.IMAGE
DOCKER = images.ROOT / "docker"


def certificates(engine):
    """docker/certificate, run in a folder of its own so that the checkout stays as it is."""
    folder = engine.folder / "tls"
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir()
    subprocess.run(["cp", DOCKER / "certificate", folder], check=True)
    run(folder / "certificate", timeout=60)
    return folder / "certificates"


class Nginx:
    """nginx as compose.yaml runs it; use it with `with`."""

    def __init__(self, engine):
        self.engine = engine
        self.authority = certificates(engine) / "server.crt"

    def __enter__(self):
        self.engine.podman(
            "run", "--detach", "--name", "proxy", f"--network=ns:/run/netns/{NETWORK}", "--read-only",
            "--read-only-tmpfs=false", "--tmpfs=/run", "--cap-drop=all",
            "--cap-add=CHOWN,DAC_OVERRIDE,NET_BIND_SERVICE,SETGID,SETUID",
            "--security-opt=no-new-privileges", "--add-host=server:127.0.0.1",
            "--volume=cache:/var/cache/nginx",
            f"--volume={DOCKER / 'nginx.conf'}:/etc/nginx/conf.d/default.conf:ro",
            f"--volume={self.authority.parent}:/etc/nginx/certificates:ro", images.named()["nginx"])
        end = time.monotonic() + 20
        while not self.is_up():
            if time.monotonic() > end:
                said = subprocess.run(["podman", "logs", "proxy"], env=self.engine.environment,
                                      capture_output=True, text=True)
                self.__exit__()
                raise RuntimeError(f"nginx did not start: {said.stdout}{said.stderr}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        subprocess.run(["podman", "rm", "--force", "--time", "0", "proxy"],
                       env=self.engine.environment, capture_output=True, timeout=60)

    def is_up(self):
        command = ["curl", "--silent", "--output", "/dev/null", "http://localhost/"]
        return self.engine.inside(*command)[0] == 0

    def get(self, path, *options):
        return self.engine.get(f"https://localhost{path}", "--cacert", self.authority, *options)


def tls(engine):
    """TLS, a page in the cache, ranges, the client's address, and what is not for everybody."""
    media = make_media(engine)
    with (Server(engine, IMAGE, "data", f"--volume={media}:/media:ro",
                 "--env=LOOKAHEAD_TRUSTED_PROXIES=127.0.0.1") as server, Nginx(engine) as nginx):
        first = nginx.get(PAGE, "--interface", "127.0.0.2")
        second = nginx.get(PAGE)
        require(first[0] == 200 and first[2]["x-cache"] == "miss", str(first[2]))
        require(second[0] == 200 and second[2]["x-cache"] == "hit", str(second[2]))
        require(second[1] == first[1], "the cache has another page")
        require('"client":"127.0.0.2"' in server.logs(), "the log does not have the client's address")
        status, body, _ = nginx.get("/media/film.mp4", "--range", "4-7")
        require((status, body) == (206, "ftyp"), f"status {status}")
        for path in ["/metrics", "/readyz", "/healthz", "/"]:
            require(nginx.get(path)[0] == 404, f"{path} is for everybody")
        status, _, fields = engine.get("http://localhost/rp/?feed=featured")
        require(status == 308 and fields["location"].startswith("https://localhost/rp/"), str(fields))


CHECKS = {"nginx in front": tls}
