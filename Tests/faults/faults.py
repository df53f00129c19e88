"""System calls of a program that fail, by a library that is loaded before all others.

A library and not strace's fault injection, which check-kills uses: a container may trace nothing where it may
load anything, strace counts for each thread by itself, and it slows down each call of a server; here faults
begin and end while the program runs.
"""

import collections
import errno
import mmap
import pathlib
import shutil
import struct
import subprocess

SOURCE = pathlib.Path(__file__).with_name("faults.c")

# In the order of faults.c.
KINDS = [
    "openat", "read", "pread64", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "mmap", "rename",
    "unlink", "accept4", "recv", "send", "sendfile", "epoll_wait",
]
# How each may fail, by its manual. A file's read(2) and pread(2) know no EAGAIN, and what only waits no EIO.
ERRORS = {
    "openat": ["EIO", "ENOSPC", "EDQUOT", "EMFILE", "ENOMEM", "EINTR"],
    "read": ["EIO", "EINTR"],
    "pread64": ["EIO", "EINTR"],
    "write": ["EIO", "ENOSPC", "EDQUOT", "EAGAIN", "EINTR"],
    "pwrite64": ["EIO", "ENOSPC", "EDQUOT", "EINTR"],
    "fsync": ["EIO", "ENOSPC", "EDQUOT"],
    "fdatasync": ["EIO", "ENOSPC", "EDQUOT"],
    "ftruncate": ["EIO", "EINTR"],
    "mmap": ["ENOMEM", "EAGAIN"],
    "rename": ["EIO", "ENOSPC", "EDQUOT", "ENOMEM"],
    "unlink": ["EIO", "ENOMEM"],
    "accept4": ["EMFILE", "ENOMEM", "EAGAIN", "EINTR"],
    "recv": ["ENOMEM", "EAGAIN", "EINTR"],
    "send": ["ENOMEM", "EAGAIN", "EINTR"],
    "sendfile": ["EIO", "ENOMEM", "EAGAIN", "EINTR"],
    "epoll_wait": ["EINTR"],
}
# Until the fault is over.
ALWAYS = 1 << 40

# The `number`-th call of a kind from now on fails, and `count` in all.
Fault = collections.namedtuple("Fault", "kind error number count")

_FAULT = struct.Struct("<5q")
_CLOCK_AT = _FAULT.size * len(KINDS)


def described(fault):
    count = "from there on" if fault.count == ALWAYS else f"× {fault.count}"
    return f"{fault.error} of {fault.kind} {fault.number} {count}"


def build(folder):
    """The library, made by the machine's compiler, or why there is none."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        return None, "there is no C compiler"
    library = pathlib.Path(folder) / "faults.so"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"],
        capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"the library cannot be made: {done.stderr.strip()[:300]}"
    return library, None


class Faults:
    """What fails in one program, which has `before` in front of its command."""

    def __init__(self, library, file):
        self.file = pathlib.Path(file)
        self.file.write_bytes(bytes(_CLOCK_AT + 8))
        with open(self.file, "r+b") as opened:
            self.memory = mmap.mmap(opened.fileno(), 0)
        self.before = ["env", f"LD_PRELOAD={library}", f"LOOKAHEAD_FAULTS={self.file}"]

    def arm(self, fault):
        at = _FAULT.size * KINDS.index(fault.kind)
        first = self.calls(fault.kind) + fault.number
        # The call from which on it fails is set last.
        struct.pack_into("<3q", self.memory, at + 16, fault.count, getattr(errno, fault.error), 0)
        struct.pack_into("<q", self.memory, at + 8, first)

    def disarm(self):
        for index in range(len(KINDS)):
            struct.pack_into("<q", self.memory, _FAULT.size * index + 8, 0)

    def begin(self):
        """Before a process of its own: nothing has been called, nothing fails."""
        self.memory[:_CLOCK_AT] = bytes(_CLOCK_AT)

    def calls(self, kind):
        return self._value(kind, 0)

    def fired(self, kind):
        return self._value(kind, 4)

    def _value(self, kind, number):
        return _FAULT.unpack_from(self.memory, _FAULT.size * KINDS.index(kind))[number]

    def all_calls(self):
        """How often each kind occurred that did."""
        return {kind: self.calls(kind) for kind in KINDS if self.calls(kind)}

    def move_clock(self, seconds):
        """The wall clock, against the true one."""
        struct.pack_into("<q", self.memory, _CLOCK_AT, seconds)
