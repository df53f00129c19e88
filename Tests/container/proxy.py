"""nginx with docker/nginx.conf in front of the server, and docker/compose.yaml as a whole."""

import pathlib
import subprocess
import time

import images
from checks import Skipped, require
from engine import NETWORK, Server
from machine import run
from operation import PAGE, make_media

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
            "--security-opt=no-new-privileges", "--add-host=server:127.0.0.1", "--volume=cache:/var/cache/nginx",
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
        return self.engine.inside("curl", "--silent", "--output", "/dev/null", "http://localhost/")[0] == 0

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


# What this test has otherwise than compose.yaml: the network, health checks without a timer, and a limit
# that podman otherwise wants to raise, which it may not everywhere.
OVERRIDE = """\
services:
  server:
    network_mode: ns:/run/netns/{network}
    ports: !reset []
    restart: "no"
    ulimits:
      nofile: 20000
      nproc: 4096
    environment:
      LOOKAHEAD_TRUSTED_PROXIES: 127.0.0.1
  proxy:
    network_mode: ns:/run/netns/{network}
    ports: !reset []
    restart: "no"
    extra_hosts: ["server:127.0.0.1"]
    depends_on: !reset []
"""


def compose(engine):
    """compose.yaml, its variables filled in, as podman-compose runs it."""
    environment = engine.folder / "python"
    if not (environment / "bin/podman-compose").exists():
        run("python3", "-m", "venv", environment, timeout=120)
        try:
            run(environment / "bin/pip", "install", "--quiet", "podman-compose", timeout=180)
        except RuntimeError as error:
            raise Skipped("podman-compose could not be installed") from error
    override = engine.folder / "override.yaml"
    override.write_text(OVERRIDE.format(network=NETWORK))
    authority = certificates(engine)
    variables = {"LOOKAHEAD_IMAGE": IMAGE, "LOOKAHEAD_CERTIFICATES": str(authority),
                 "LOOKAHEAD_MEDIA": str(make_media(engine)), "NGINX_VERSION": images.named()["nginx"].split(":")[1]}

    def command(*arguments):
        done = subprocess.run(
            [environment / "bin/podman-compose", "--file", DOCKER / "compose.yaml", "--file", override,
             *arguments], env=engine.environment | variables, text=True, capture_output=True, timeout=180,
            cwd=engine.folder)
        require(done.returncode == 0, f"podman-compose {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    try:
        seeded = command("--profile", "seed", "run", "--rm", "-T", "seed")
        require(" added, " in seeded, seeded)
        command("--profile", "tls", "up", "--detach", "--no-build")
        end = time.monotonic() + 20
        address, trust = f"https://localhost{PAGE}", ["--cacert", authority / "server.crt"]
        while engine.inside("curl", "--silent", "--fail", "--output", "/dev/null", *trust, address)[0] != 0:
            require(time.monotonic() < end, "no page came: " + command("logs"))
            time.sleep(0.2)
        require(engine.get(f"https://localhost/media/film.mp4", *trust)[0] == 200, "a media file")
        command("--profile", "tls", "stop")
        states = [engine.inspect("container", name)["State"]["ExitCode"]
                  for name in engine.podman("ps", "--all", "--format", "{{.Names}}").split()]
        require(set(states) == {0}, f"statuses {states}")
    finally:
        command("--profile", "tls", "down", "--volumes")


CHECKS = {"nginx in front": tls, "docker/compose.yaml": compose}
