"""The lab's sweep: a place for it."""

from context import NotYet


def measure(bench):
    raise NotYet("there is no `lookahead lab` yet")
