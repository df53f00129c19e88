#!/usr/bin/env python3
"""Installs the Debian package of script/package on a clean Debian, with systemd and without, and
removes it again.

    PYTHONPATH=Tests/load check_package.py [FOLDER]

Prints a line for each thing looked at. Exit status 0 where all hold, 1 where one does not. FOLDER keeps
the base image for the next run; without it nothing stays.
"""

import sys

import images
import machine
import package
import service
import trial
from debian import Debian


def check(checks, engine):
    names = images.named()
    # Without these there is nothing to look at.
    machine.debian_mirror(names["release"])
    machine.swift_toolchain()
    checks.run(f"a base image, {names['debian']}", images.make_debian, engine, names)
    checks.run("script/package, twice the same", package.makes, engine)
    if checks.counts["FAILED"]:
        return
    checks.run("a clean machine", package.clean_machine, engine)
    if checks.counts["FAILED"]:
        return
    for name, look in package.CHECKS.items():
        checks.run(name, look, engine)
    with Debian(engine) as debian:
        for name, look in service.CHECKS.items():
            checks.run(name, look, debian)
    checks.run("without systemd", service.without_systemd, engine)


if __name__ == "__main__":
    sys.exit(trial.run("package", check, *sys.argv[1:]))
