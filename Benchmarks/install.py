"""Builds and installs what the servers that are compared need beside Debian's packages."""

import json
import os
import pathlib
import subprocess

from machine import package_version

ROOT = pathlib.Path(__file__).resolve().parents[1]
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


def need_go(built, database="sqlite"):
    """Builds the Go service for a kind of database with Debian's packages alone; its program."""
    program = built / f"go-peer-{database}"
    sources = [PEERS / "go" / "page.go", PEERS / "go" / f"{database}.go"]
    run(["go", "build", "-tags", "libsqlite3", "-o", program, *sources],
        "the Go service could not be built",
        {"GO111MODULE": "off", "GOFLAGS": "", "GOPATH": DEBIAN_GOPATH,
         "GOCACHE": str(built / "go-cache")})
    return program


def need_postgres():
    """Installs PostgreSQL and pgx from Debian where they are not there."""
    run([ROOT / "Tests" / "load" / "install", "/usr/share/doc/postgresql=postgresql",
         f"{DEBIAN_GOPATH}/src/github.com/jackc/pgx=golang-github-jackc-pgx-v4-dev"],
        "PostgreSQL could not be installed")


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
    for name, package in {"postgres": "postgresql-15", "pgx": "golang-github-jackc-pgx-v4-dev"}.items():
        version = package_version(package)
        if version != "unknown":
            found[name] = version
    return found
