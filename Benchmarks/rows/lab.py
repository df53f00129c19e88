"""The lab's sweep: a place for it."""

import install


def measure(bench):
    raise install.Missing("there is no `lookahead lab` yet")
