"""Kills a program at its n-th system call of a kind, with strace's fault injection.

strace counts for each thread by itself: the program is killed as the first of its threads makes its n-th
call, before the kernel has done it.
"""

import collections
import pathlib
import re
import subprocess

# What changes files, locks or tells somebody something.
KINDS = [
    "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "truncate", "fallocate", "rename",
    "unlink", "fcntl", "flock", "fchmod", "fchown", "sendmsg", "sendto",
]
_LINE = re.compile(r"^(\d+) +(\w+)\((.*)$")

# The n-th call of a kind in one of the threads, and what it was when it was recorded.
Call = collections.namedtuple("Call", "kind number text")


def why_unusable(folder):
    """Why no program can be killed in this way here; nothing where it can."""
    kill = Call("write", 1, "")
    said = pathlib.Path(folder) / "said"
    try:
        with open(said, "wb") as output:
            done = subprocess.run(
                [*killing(kill), "/bin/echo", "alive"], stdout=output, stderr=subprocess.PIPE,
                timeout=60)
    except FileNotFoundError:
        return "there is no strace"
    if done.returncode == -9 and not said.read_bytes():
        return None
    return f"strace cannot trace here: {done.stderr.decode(errors='replace').strip()[:200]}"


def recording(trace):
    """What stands before a command whose calls are to be written to the file."""
    return ["strace", "-f", "-qq", "-y", "-s", "0", "-e", "signal=none",
            "-e", "trace=" + ",".join(KINDS), "-o", str(trace)]


def killing(call):
    """What stands before a command that is to be killed there; its process remains our child."""
    return ["strace", "-D", "-f", "-qq", "-e", "signal=none", "-e", f"trace={call.kind}",
            f"--inject={call.kind}:signal=KILL:when={call.number}", "-o", "/dev/null"]


def calls(trace, folder):
    """The recorded calls that have to do with the folder, with pipes or with sockets."""
    numbers = collections.Counter()
    found = {}
    for line in pathlib.Path(trace).read_text(errors="replace").splitlines():
        match = _LINE.match(line)
        if not match or match[2] not in KINDS:
            continue
        thread, kind, text = match.groups()
        numbers[thread, kind] += 1
        if str(folder) in text or "<pipe:" in text or "<socket:" in text or "<TCP:" in text:
            # The first thread that comes so far is the one that is killed.
            found.setdefault((kind, numbers[thread, kind]), text.replace(str(folder) + "/", "")[:70])
    return [Call(kind, number, text) for (kind, number), text in found.items()]


def chosen(calls, random):
    """The calls in the order to try: first and last of each kind, then the kinds in turn."""
    kinds = collections.defaultdict(list)
    for call in calls:
        kinds[call.kind].append(call)
    ends, others = [], []
    for kind in KINDS:
        these = sorted(kinds[kind], key=lambda call: call.number)
        ends += these[:1] + these[1:][-1:]
        between = these[1:-1]
        random.shuffle(between)
        others.append(between)
    random.shuffle(ends)
    order = ends
    while any(others):
        order += [these.pop() for these in others if these]
    return order
