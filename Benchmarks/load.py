"""Load on a server as fast as it answers: wrk."""

import dataclasses
import json
import pathlib
import subprocess
import time

from machine import LOAD_CORE, children_seconds

SCRIPT = pathlib.Path(__file__).parent / "load.lua"
CONNECTIONS = 64
TIMEOUT_SECONDS = 10


class LoadError(Exception):
    """The server did not answer as it has to."""


@dataclasses.dataclass
class Sample:
    """What one run found. Times in microseconds, memory in MB, cores as shares of one."""

    rate: float
    p50: float
    p99: float
    longest: float = 0
    cpu: float = 0
    server_core: float = 0
    load_core: float = 0
    load_cpu: float = 0
    rss: float = 0
    pss: float = 0
    broken: int = 0
    writes: float = 0
    # When it was taken, by the monotonic clock.
    window: tuple = None


def wrk(server, path, seconds, connections=CONNECTIONS, paths=None, fields=(), cores=LOAD_CORE,
        threads=1, posted=None):
    """A run of wrk; the server's CPU time a request and its memory beside it.

    `posted` is a body to be posted to each of the paths.
    """
    command = ["taskset", "-c", cores, "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s",
               f"--timeout={TIMEOUT_SECONDS}s", "-s", str(SCRIPT)]
    for field in fields:
        command += ["-H", field]
    command += [server.url(path), *(["--", str(paths)] if paths else []),
                *(["POST", posted] if posted else [])]
    server_seconds, load_seconds = server.cpu_seconds(), children_seconds()
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
    end = time.monotonic()
    server_seconds = server.cpu_seconds() - server_seconds
    load_seconds = children_seconds() - load_seconds
    if done.returncode != 0:
        raise LoadError(f"wrk: {done.stdout}{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    if found["requests"] == 0 or found["refused"]:
        raise LoadError(
            f"{server.name} answered {found['requests']} requests, {found['refused']} not with 200; "
            f"{found['broken']} connections broke")
    rss, pss = server.memory()
    return Sample(
        rate=found["requests"] / found["microseconds"] * 1e6, p50=found["p50"], p99=found["p99"],
        longest=found["longest"], cpu=server_seconds / found["requests"] * 1e6,
        server_core=server_seconds / (end - start), load_core=load_seconds / (end - start),
        load_cpu=load_seconds / found["requests"] * 1e6, rss=rss, pss=pss,
        broken=found["broken"] + found["late"], window=(start, end))
