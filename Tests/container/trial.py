"""What both tests are: checks within an engine of their own, of which nothing stays."""

import pathlib
import signal
import sys
import tempfile

from checks import Checks, Skipped
from engine import Engine


def run(name, check, kept=None):
    """Runs `check(checks, engine)`; the exit status. The folder is kept where one is named."""
    # So that what was started is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = kept or tempfile.mkdtemp(prefix=f"lookahead-{name}-", dir="/var/tmp")
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    engine = Engine(folder)
    try:
        with engine:
            check(checks, engine)
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 0
    finally:
        if not kept:
            engine.remove()
    return checks.status()
