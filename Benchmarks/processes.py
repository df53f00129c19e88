"""Processes that are measured: pinned to cores, with what they use read from /proc."""

import os
import pathlib
import re
import subprocess

TICK = os.sysconf("SC_CLK_TCK")
MEGABYTE = 1_000_000
# kthreadd, of which the kernel's threads are the children.
KERNEL_THREADS = 2


class Process:
    """A program on the cores named, with its children; use it with `with`."""

    def __init__(self, command, cores, environment=None, output=subprocess.DEVNULL,
                 errors=subprocess.DEVNULL, nice=0):
        priority = ["nice", "-n", str(nice)] if nice else []
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, *priority, *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
            env={**os.environ, **environment} if environment is not None else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def is_running(self):
        return self.process.poll() is None

    def stop(self):
        """Ends it as an operator does, and then without asking."""
        if self.is_running:
            self.process.terminate()
        try:
            return self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self):
        self.process.kill()
        return self.process.wait(timeout=10)

    def family(self):
        """The process ids of the program and of all that it has started."""
        return family(self.process.pid)

    def cpu_seconds(self):
        """The CPU time of all threads, in user space and in the kernel."""
        ticks = 0
        for pid in self.family():
            ticks += sum(map(int, stat_fields(pid)[11:13]))
        return ticks / TICK

    def memory(self):
        """Resident and proportional set size in MB."""
        texts = [read(f"/proc/{pid}/smaps_rollup") for pid in self.family()]
        return tuple(
            sum(int(kilobytes) for text in texts
                for kilobytes in re.findall(rf"^{name}:\s+(\d+) kB", text, re.M)) * 1024 / MEGABYTE
            for name in ["Rss", "Pss"])


def family(pid):
    """The process and all that it has started."""
    children = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        fields = stat_fields(folder.name)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def others_seconds():
    """The CPU time, ended children's with it, of all that this process has not started.

    The kernel's own threads are left out: among others, they write what the run has written.
    """
    known = {*family(os.getpid()), *family(KERNEL_THREADS)}
    ticks = 0
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        if int(folder.name) not in known:
            ticks += sum(map(int, stat_fields(folder.name)[11:15]))
    return ticks / TICK


def read(path):
    """The text of a file of /proc; empty where its process has gone."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the name, the state first; none where it has gone."""
    return read(f"/proc/{pid}/stat").rsplit(")", 1)[-1].split()
