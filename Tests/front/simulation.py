#!/usr/bin/env python3
"""What reaches the servers of readers behind a content network: the sums of docs/scale.md, simulated.

    simulation.py [--readers 1000000] [--increments 500] [--feeds 328] [--places 40] [--seconds 60] [--seed N] [--arm 0.5]

Readers ask for pages of feeds, as popular as the communities of real posts (popularity.json), at places of a content
network, behind which stands one more of its caches, Varnish that is purged, and the servers. Readers come at
random and independently (Poisson), so that of a place and page only the requests that find nothing have to be drawn:
when one has run out, the next reader comes after an exponential time. Everything after that is followed event by
event: who is asked when, with which age, what is fetched once for all who wait, which purge came when, and
how old what readers see is. Prints one line for each setting; the same seed gives the same lines.
"""

import argparse
import bisect
import heapq
import itertools
import json
import math
import pathlib
import random

POPULARITY = json.loads((pathlib.Path(__file__).parent / "popularity.json").read_text())["communities"]
# The share of readers that get as far as each page of a feed, and what they ask for it as: network and coding.
DEPTHS = [1, 0.5, 0.3, 0.2, 0.12, 0.08]
FORMS = [0.55, 0.25, 0.12, 0.08]
# How much of a feed's increments are of items on each of these pages: most are of what is read.
CHANGED = [share / sum(DEPTHS) for share in DEPTHS]
# Of the ways, there and back, in seconds: place to shield, shield to Varnish, Varnish to server.
TO_SHIELD, TO_VARNISH, TO_SERVER = 0.040, 0.020, 0.002
PURGE_SECONDS = 0.25
# A page of 30 items in brotli.
PAGE_BYTES = 9_000


def forms(share, depth, arm):
    """What a page is asked for as by readers of whom some have another policy: from the second page on they say so."""
    return [share * (1 - arm), share * arm] if arm > 0 and depth > 0 else [share]


class Feed:
    """When something of it was written, at most once in each purge's interval, and on which page."""

    def __init__(self, rate, seconds, numbers):
        self.purges, self.changes = [], [[] for _ in DEPTHS]
        chance = 1 - math.exp(-rate * PURGE_SECONDS)
        if chance == 0:
            return
        tick = 0
        while True:
            # How many intervals pass until one in which something is written.
            tick += 1 + (int(math.log(1 - numbers.random()) / math.log(1 - chance)) if chance < 1 else 0)
            time = tick * PURGE_SECONDS
            if time > seconds:
                return
            self.purges.append(time)
            for page, share in enumerate(CHANGED):
                if numbers.random() < 1 - math.exp(-rate * PURGE_SECONDS * share / chance):
                    self.changes[page].append(time)

    @staticmethod
    def first_after(times, time):
        index = bisect.bisect_right(times, time)
        return times[index] if index < len(times) else math.inf


class Cache:
    """What a cache has of a page: from when it is, and until when it may be given."""

    __slots__ = ("made", "until", "arrives")

    def __init__(self, until, kept):
        # As if it had been asked for before, at any time.
        self.until, self.made, self.arrives = until, until - kept, until - kept


class Simulation:
    def __init__(self, arguments, max_age, kept, seed):
        self.random = random.Random(seed)
        self.arguments, self.max_age, self.kept = arguments, max_age, kept
        self.end = 2 * max_age + arguments.seconds
        # What is counted begins when every cache has what it can have.
        self.begin = 2 * max_age
        self.counts = dict.fromkeys(["readers", "shield", "varnish", "servers", "unchanged"], 0)
        self.behind = []
        popularity = POPULARITY[:arguments.feeds]
        total = sum(popularity)
        self.feeds = [Feed(arguments.increments * share / total, self.end, self.random) for share in popularity]
        weights = sum(DEPTHS) * sum(FORMS)
        self.pages = [
            (feed, depth, arguments.readers * share / total * reach * form / weights)
            for feed, share in enumerate(popularity)
            for (depth, reach), part in itertools.product(enumerate(DEPTHS), FORMS)
            for form in forms(part, depth, arguments.arm)]

    def count(self, name, time):
        if time >= self.begin:
            self.counts[name] += 1

    def run(self):
        starts = [self.random.random() * self.max_age for _ in self.pages]
        shields = [Cache(start, self.max_age) for start in starts]
        varnishes = [Cache(start, self.kept) for start in starts]
        events = []
        for page, (_, _, rate) in enumerate(self.pages):
            for _ in range(self.arguments.places):
                time = self.random.random() * self.max_age
                heapq.heappush(events, (time, page))
        while events:
            time, page = heapq.heappop(events)
            if time > self.end:
                break
            feed, depth, rate = self.pages[page]
            rate /= self.arguments.places
            made, age = self.ask_shield(time + TO_SHIELD / 2, page, shields[page], varnishes[page])
            left = max(0.0, self.max_age - age)
            if time >= self.begin:
                self.counts["shield"] += 1
                self.see(time, left, made, self.feeds[feed].changes[depth], rate)
            # While it asks anew, the place shows what it has: nobody waits, and one request is made.
            heapq.heappush(events, (time + left + self.random.expovariate(rate), page))
        self.counts["readers"] = self.arguments.readers * self.arguments.seconds
        return self

    def ask_shield(self, time, page, shield, varnish):
        """When what the shield gives was made, and how old it says that is."""
        if time >= shield.until:
            if time >= shield.arrives:
                self.count("varnish", time)
                shield.made = self.ask_varnish(time + TO_VARNISH / 2, page, varnish)
                shield.arrives = time + TO_VARNISH
                # Varnish gives it as of now: it would have been purged.
                shield.until = shield.arrives + self.max_age
        return shield.made, max(0.0, time - shield.arrives)

    def ask_varnish(self, time, page, varnish):
        feed, depth, _ = self.pages[page]
        purged = Feed.first_after(self.feeds[feed].purges, varnish.made) <= time
        if time >= varnish.until or purged:
            if time >= varnish.arrives:
                self.count("servers", time)
                if Feed.first_after(self.feeds[feed].changes[depth], varnish.made) > time:
                    self.count("unchanged", time)
                varnish.made = time + TO_SERVER / 2
                varnish.arrives = time + TO_SERVER
                varnish.until = varnish.arrives + self.kept
        return varnish.made

    def see(self, time, left, made, changes, rate):
        """How old what some reader sees is, who asks at random until the place asks anew."""
        seen = time + self.random.random() * left
        changed = Feed.first_after(changes, made)
        self.behind.append((seen - changed if changed < seen else 0.0, rate * left))

    def line(self):
        seconds = self.arguments.seconds
        rate = {name: count / seconds for name, count in self.counts.items()}
        self.behind.sort()
        total = sum(weight for _, weight in self.behind)

        def percentile(share):
            sum_ = 0.0
            for behind, weight in self.behind:
                sum_ += weight
                if sum_ >= share * total:
                    return behind
            return self.behind[-1][0]

        return (f"| {self.max_age:g} s | {self.kept:g} s | {rate['shield']:,.0f} | {rate['varnish']:,.0f} | "
                f"{rate['servers']:,.0f}, {rate['unchanged']:,.0f} of them 304 | "
                f"{rate['varnish'] * PAGE_BYTES * 8 / 1e6:,.0f} Mbit/s | "
                f"{percentile(0.5):.1f}, {percentile(0.99):.1f}, {self.behind[-1][0]:.1f} s |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readers", type=float, default=1e6, help="requests of readers a second")
    parser.add_argument("--increments", type=float, default=500, help="a second, as popular as what is read")
    parser.add_argument("--feeds", type=int, default=len(POPULARITY), help="this many of them, the most popular")
    parser.add_argument("--places", type=int, default=40, help="of the content network")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--max-age", type=float, action="append", help="of pages, in seconds; several are several lines")
    parser.add_argument("--arm", type=float, default=0, help="share of readers that another policy is tried on, 0 to 0.5")
    parser.add_argument("--kept", type=float, default=10, help="by Varnish, in seconds, where nothing is purged")
    arguments = parser.parse_args()
    if not 1 <= arguments.feeds <= len(POPULARITY) or min(arguments.readers, arguments.places, arguments.seconds) <= 0:
        parser.error(f"--feeds is 1 to {len(POPULARITY)}, and there are readers, places and seconds")
    if not 0 <= arguments.arm <= 0.5:
        parser.error("--arm is 0 to 0.5")
    pages = arguments.feeds * sum(len(forms(1, depth, arguments.arm)) for depth in range(len(DEPTHS))) * len(FORMS)
    print(f"{arguments.feeds} feeds, {pages} pages, {arguments.readers:,.0f} "
          f"readers and {arguments.increments:g} increments a second, {arguments.places} places, "
          f"{arguments.seconds} s, seed {arguments.seed}\n")
    print("| max-age | kept by Varnish | asked of the shield a second | of Varnish | of the servers | Varnish sends "
          "| behind: p50, p99, most |\n|---|---|---|---|---|---|---|")
    for max_age in arguments.max_age or [10, 30, 90]:
        print(Simulation(arguments, max_age, max(arguments.kept, max_age), arguments.seed).run().line(), flush=True)


if __name__ == "__main__":
    main()
