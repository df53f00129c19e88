"""Runs in turn, and the median of each one's figures."""

import dataclasses
import statistics

from load import Sample


@dataclasses.dataclass
class Contender:
    """One of those that are compared: `measure` runs once and returns a sample."""

    name: str
    measure: object


class Contest:
    """Contenders that run in turn, so that a slow minute of the machine is everybody's."""

    def __init__(self, bench, contenders):
        self.bench = bench
        self.contenders = contenders

    def run(self):
        for contender in self.contenders:
            # Fills caches; counts for nothing.
            contender.measure()
        samples = {contender.name: [] for contender in self.contenders}
        for _ in range(self.bench.runs):
            for contender in self.contenders:
                samples[contender.name].append(self.bench.kept(contender.measure))
        return {name: line(name, found) for name, found in samples.items()}


def line(name, samples):
    """A line of a table: the medians of the samples, and what the runs found."""
    medians = {
        field.name: statistics.median(getattr(sample, field.name) for sample in samples)
        for field in dataclasses.fields(Sample) if field.name != "window"}
    return {"name": name, **medians, "rates": [round(sample.rate) for sample in samples],
            "cpus": [round(sample.cpu, 2) for sample in samples]}


def ratio(what, value, goal, at_least):
    """How two figures compare, and whether that is what is to be reached, where something is."""
    return {"what": what, "value": value, "goal": goal, "at_least": at_least,
            "reached": None if goal is None else value >= goal if at_least else value <= goal}
