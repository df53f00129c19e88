"""Builds and installs what the servers that are compared need beside Debian's packages."""

import json
import os
import pathlib
import subprocess

PEERS = pathlib.Path(__file__).parent / "peers"
# Debian's Go packages lie here; nothing is fetched.
DEBIAN_GOPATH = "/usr/share/gocode"
DATASETTE = "datasette==0.65.*"


class Missing(Exception):
    """Something that a row needs is not there."""


def run(command, what, environment=None):
    try:
        done = subprocess.run(
            [str(part) for part in command], capture_output=True, text=True,
            env=os.environ | (environment or {}))
    except OSError as error:
        raise Missing(f"{what}: {error}") from error
    if done.returncode != 0:
        raise Missing(f"{what}: {(done.stdout + done.stderr)[-1000:]}")


def need_go(built):
    """Builds the Go service with Debian's packages alone."""
    run(["go", "build", "-tags", "libsqlite3", "-o", built / "go-peer", PEERS / "go" / "main.go"],
        "the Go service could not be built",
        {"GO111MODULE": "off", "GOFLAGS": "", "GOPATH": DEBIAN_GOPATH,
         "GOCACHE": str(built / "go-cache")})


def need_hummingbird(built):
    print("building the Hummingbird service", flush=True)
    run(["taskset", "-c", "0,1", "swift", "build", "--configuration", "release", "--package-path",
         PEERS / "hummingbird-grdb", "--scratch-path", built / "hummingbird"],
        "the Hummingbird service could not be built")


def need_datasette(built):
    """Installs Datasette from PyPI into a Python environment of its own."""
    python = built / "python"
    if (python / "bin" / "datasette").exists():
        return
    print("installing Datasette", flush=True)
    run(["python3", "-m", "venv", python], "no Python environment could be made")
    run([python / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", DATASETTE],
        "Datasette could not be installed")


def versions(built):
    """The versions of what is not from Debian, by name, of what is there."""
    found = {}
    for folder in (built / "python").glob("lib/*/site-packages/datasette-*.dist-info"):
        found["datasette"] = folder.name.split("-")[1].removesuffix(".dist")
    resolved = PEERS / "hummingbird-grdb" / "Package.resolved"
    if resolved.exists():
        for pin in json.loads(resolved.read_text())["pins"]:
            if pin["identity"] in ("hummingbird", "grdb.swift"):
                found[pin["identity"].split(".")[0]] = pin["state"]["version"]
    return found
