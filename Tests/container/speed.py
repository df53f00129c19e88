"""The hot page's rate in the container against the same program outside of it."""

import os
import re
import shutil
import statistics
import subprocess

import images
from checks import Skipped, require
from engine import NETWORK
from operation import PAGE
from server import Server

IMAGE = images.IMAGE
ROUNDS = 5
SECONDS = 3


def rates(engine):
    """Alternated rounds of wrk, one core for it and one for the server: the medians."""
    if not shutil.which("wrk"):
        raise Skipped("there is no wrk")
    if os.cpu_count() < 2:
        raise Skipped("wants a core for wrk and one for the server")
    program = engine.folder / "program"
    copy_program(engine, program)
    figures = {"inside": [], "outside": []}
    with Server(engine, IMAGE, "data", "--env=LOOKAHEAD_ACCESS_LOG=off") as server:
        pin(server.pid())
        outside = start_outside(engine, program)
        try:
            pin(outside.pid)
            for _ in range(ROUNDS):
                for name, port in [("inside", server.port), ("outside", 8082)]:
                    figures[name].append(rate(engine, f"http://127.0.0.1:{port}{PAGE}"))
        finally:
            outside.terminate()
            outside.wait(timeout=40)
    inside, without = (statistics.median(figures[name]) for name in ["inside", "outside"])
    require(inside > without * 0.7, f"{inside:.0f} against {without:.0f} a second")
    return (f"{inside:.0f} a second against {without:.0f} outside, {inside / without:.2f} of it;"
            f" medians of {ROUNDS} rounds of {SECONDS} s")


def copy_program(engine, path):
    engine.podman("create", "--name", "copied", IMAGE)
    engine.podman("cp", "copied:/usr/bin/lookahead", path)
    engine.podman("rm", "copied")
    engine.podman("create", "--name", "copied", "--volume=data:/data", IMAGE)
    engine.podman("cp", "copied:/data/lookahead.sqlite", f"{path}.sqlite")
    engine.podman("rm", "copied")


def start_outside(engine, program):
    """The image's program, on this machine's libraries, in the network that the container has."""
    process = subprocess.Popen(
        ["ip", "netns", "exec", NETWORK, program, "serve", "--database", f"{program}.sqlite",
         "--port", "8082", "--no-access-log"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=engine.environment)
    process.stdout.readline()
    return process


def pin(pid):
    """All threads of the process to the first core."""
    subprocess.run(["taskset", "--all-tasks", "--cpu-list", "--pid", "0", str(pid)], check=True,
                   capture_output=True)


def rate(engine, address):
    _, output, errors = engine.inside(
        "taskset", "--cpu-list", "1", "wrk", "-t1", "-c64", f"-d{SECONDS}s", address, timeout=60)
    require("Non-2xx" not in output, output)
    found = re.search(r"Requests/sec:\s+([\d.]+)", output)
    require(found, output + errors)
    return float(found[1])


CHECKS = {"the hot page's rate": rates}
