#!/usr/bin/env python3
"""Adds to an item's counter at a steady rate until it is ended.

    counting.py PORT ITEM COUNTER RATE
"""

import http.client
import json
import sys
import threading
import time
from urllib.parse import quote

from servers import TOKEN

CONNECTIONS = 4


def count(port, item, counter, interval, due):
    """Increments one after the other, each when it is due or as soon after as it can be."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    path = f"/v1/items/{quote(item, safe='')}/counters"
    fields = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    while True:
        time.sleep(max(0, due - time.monotonic()))
        due += interval
        connection.request("POST", path, json.dumps({counter: 1}), fields)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"an increment was answered with {answer.status}")


def main(port, item, counter, rate):
    start, interval = time.monotonic(), CONNECTIONS / float(rate)
    threads = [
        threading.Thread(
            target=count,
            args=(int(port), item, counter, interval, start + number * interval / CONNECTIONS))
        for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
