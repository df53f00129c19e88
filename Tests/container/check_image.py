#!/usr/bin/env python3
"""Builds Lookahead's image without a registry, and runs it as docker/ says.

    PYTHONPATH=Tests/load check_image.py [FOLDER]

Prints a line for each thing looked at, with what was measured. Exit status 0 where all hold, 1 where one
does not. FOLDER keeps base images and layers for the next run; without it nothing stays.
"""

import pathlib
import shutil
import signal
import sys
import tempfile

import content
import images
import machine
import operation
import proxy
import speed
import volumes
from checks import Checks, Failed, Skipped
from engine import Engine


def check(checks, engine):
    names = images.named()
    machine.build_mounts(engine.folder)
    for name, make in [
        (names["debian"], images.make_debian), (names["swift"], images.make_swift),
        (names["nginx"], images.make_nginx),
    ]:
        checks.run(f"a base image, {name.removeprefix('docker.io/library/')}", make, engine, names)
    checks.run("the image builds", images.build, engine)
    if checks.counts["FAILED"]:
        return
    for module in [content, operation, volumes, speed, proxy]:
        for name, look in module.CHECKS.items():
            checks.run(name, look, engine)


def main(kept=None):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(kept or tempfile.mkdtemp(prefix="lookahead-image-", dir="/var/tmp")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    engine = Engine(folder)
    try:
        machine.swift_toolchain()
        with engine:
            check(checks, engine)
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 0
    finally:
        if not kept:
            engine.remove()
    return checks.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
