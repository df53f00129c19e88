#!/usr/bin/env python3
"""Builds Lookahead's image without a registry, and runs it as docker/ says.

    PYTHONPATH=Tests/load check_image.py [FOLDER]

Prints a line for each thing looked at, with what was measured. Exit status 0 where all hold, 1 where one
does not. FOLDER keeps base images and layers for the next run; without it nothing stays.
"""

import sys

import content
import images
import machine
import operation
import probing
import proxy
import readme
import speed
import trial
import volumes


def check(checks, engine):
    names = images.named()
    # Without these there is nothing to look at.
    machine.debian_mirror(names["release"])
    machine.swift_toolchain()
    for name, make in [
        (names["debian"], images.make_debian), (names["swift"], images.make_swift),
        (names["nginx"], images.make_nginx),
    ]:
        checks.run(f"a base image, {name}", make, engine, names)
    checks.run("the image builds", images.build, engine)
    if checks.counts["FAILED"]:
        return
    checks.run("the image with ffmpeg builds", images.build, engine, images.PROBE, "--target=probe")
    if checks.counts["FAILED"]:
        return
    for module in [content, operation, probing, volumes, speed, proxy, readme]:
        for name, look in module.CHECKS.items():
            checks.run(name, look, engine)


if __name__ == "__main__":
    sys.exit(trial.run("image", check, *sys.argv[1:]))
