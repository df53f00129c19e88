"""One line for each thing that was looked at, and the exit status at the end."""

import time
import traceback


class Skipped(Exception):
    """Something that the check needs is not there."""


class Failed(Exception):
    """What was looked at does not hold."""


class Checks:
    """Runs checks, prints `ok`, `FAILED` or `skipped` for each, and counts them."""

    def __init__(self):
        self.counts = {"ok": 0, "FAILED": 0, "skipped": 0}

    def run(self, name, check, *arguments):
        """Runs a check, which returns what it found, or raises."""
        start = time.monotonic()
        try:
            outcome, text = "ok", check(*arguments)
        except Skipped as reason:
            outcome, text = "skipped", str(reason)
        except Failed as reason:
            outcome, text = "FAILED", str(reason)
        except Exception as error:
            outcome, text = "FAILED", f"{type(error).__name__}: {error}"
            traceback.print_exc()
        self.counts[outcome] += 1
        seconds = time.monotonic() - start
        print(f"{outcome:8}{name}{': ' + text if text else ''} ({seconds:.1f} s)", flush=True)

    def status(self):
        """Prints the counts; the exit status."""
        print(", ".join(f"{count} {outcome}" for outcome, count in self.counts.items()))
        return 1 if self.counts["FAILED"] else 0


def require(holds, otherwise):
    """Raises `Failed` where it does not hold."""
    if not holds:
        raise Failed(otherwise)
