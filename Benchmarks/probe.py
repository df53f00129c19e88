#!/usr/bin/env python3
"""Tells how fast the core is on which it runs, twenty times a second: probe.py, pinned by its caller.

A line for each look: the monotonic clock's seconds, and the CPU seconds of a loop of fixed work, the
best of some, because the first one finds cold caches. CPU time and not elapsed time: what counts is
whether the core works as fast as it can, not who has it.
"""

import sys
import time

LOOP_ITEMS = 3000
LOOPS = 5
EVERY_SECONDS = 0.05


def loop_seconds():
    start = time.thread_time()
    sum(range(LOOP_ITEMS))
    return time.thread_time() - start


while True:
    seconds = min(loop_seconds() for _ in range(LOOPS))
    try:
        print(f"{time.monotonic():.3f} {seconds:.7f}", flush=True)
    except BrokenPipeError:
        sys.exit(0)
    time.sleep(EVERY_SECONDS)
