"""The images that docker/ names: the official ones made anew from this machine, and Lookahead's own."""

import functools
import pathlib
import re
import shutil
import subprocess
import time

import machine
from checks import require

ROOT = pathlib.Path(__file__).parents[2]
IMAGE = "localhost/lookahead:test"
PROBE = "localhost/lookahead-probe:test"

# What the official Swift image installs beside the toolchain.
SWIFT = """\
FROM {debian}
RUN apt-get update && apt-get install --yes --no-install-recommends \
  binutils-gold ca-certificates gcc git libcurl4-openssl-dev libedit-dev libicu-dev libncurses-dev \
  libpython3-dev libsqlite3-dev libstdc++-12-dev libxml2-dev pkg-config tzdata uuid-dev \
  && rm -rf /var/lib/apt/lists/*
ENV PATH={toolchain}/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
"""

# Debian's nginx, with the folders and the output of the official image.
NGINX = """\
FROM {debian}
RUN apt-get update && apt-get install --yes --no-install-recommends nginx-light \
  && rm -rf /var/lib/apt/lists/* /etc/nginx/sites-enabled/* /var/lib/nginx \
  && mkdir -p /var/cache/nginx && ln -s /var/cache/nginx /var/lib/nginx \
  && ln -sf /dev/stdout /var/log/nginx/access.log && ln -sf /dev/stderr /var/log/nginx/error.log
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
"""


def named():
    """The official images that the Dockerfile and compose.yaml start from, by what they are."""
    dockerfile = (ROOT / "docker/Dockerfile").read_text()
    compose = (ROOT / "docker/compose.yaml").read_text()
    swift = re.search(r"^ARG SWIFT_VERSION=(\S+)$", dockerfile, re.M)[1]
    release = re.search(r"^ARG DEBIAN_RELEASE=(\S+)$", dockerfile, re.M)[1]
    nginx = re.search(r"image: nginx:\$\{NGINX_VERSION:-(\S+)\}", compose)[1]
    library = "docker.io/library"
    return {"release": release, "swift version": swift, "debian": f"{library}/debian:{release}-slim",
            "swift": f"{library}/swift:{swift}-{release}", "nginx": f"{library}/nginx:{nginx}"}


def make_debian(engine, names):
    if engine.has(names["debian"]):
        return "kept from the run before"
    root = engine.folder / "debian"
    machine.debian_root(names["release"], root)
    with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as archive:
        engine.podman("import", "-", names["debian"], timeout=300, stdin=archive.stdout)
    shutil.rmtree(root)
    return "made with debootstrap"


def make_on_debian(engine, names, kind, text):
    """One of the other official images."""
    if engine.has(names[kind]):
        return "kept from the run before"
    folder = engine.folder / kind
    folder.mkdir(exist_ok=True)
    (folder / "Dockerfile").write_text(text)
    engine.buildah("build", "--isolation=chroot", "--format=docker", "--pull=never",
                   *machine.build_mounts(engine.folder), "--tag", names[kind], folder, timeout=600)
    return "made of Debian's"


def make_swift(engine, names):
    toolchain, version = machine.swift_toolchain()
    require(version.startswith(names["swift version"]),
            f"the Dockerfile builds with Swift {names['swift version']}, this machine has {version}")
    return make_on_debian(
        engine, names, "swift", SWIFT.format(debian=names["debian"], toolchain=toolchain))


def make_nginx(engine, names):
    return make_on_debian(engine, names, "nginx", NGINX.format(debian=names["debian"]))


@functools.cache
def commit():
    """What is checked out as the test begins."""
    return machine.run("git", "rev-parse", "HEAD", cwd=ROOT, timeout=20).strip()


def build(engine, tag=IMAGE, *options):
    """Lookahead's image, as docker/README.md says; how long it took."""
    start = time.monotonic()
    engine.buildah(
        "build", "--isolation=chroot", "--format=docker", "--pull=never", "--layers",
        *machine.build_mounts(engine.folder), "--file", ROOT / "docker/Dockerfile", "--tag", tag,
        "--build-arg", f"COMMIT={commit()}", *options, ROOT, timeout=1800)
    return f"in {time.monotonic() - start:.0f} s"
