"""Holds what clients were answered against what a server has."""

import json
from urllib.parse import quote

from checks import require
from soak import writers
from soak.client import Tally

COUNTED = "/v1/items/" + writers.Counter.shared_item


class Accounts:
    """The account of all that was written to a server's database."""

    def __init__(self, seed):
        self.seed = seed
        self.taps = 0

    def settle(self, server, clients):
        """Every answered write is there, and no other; counters are exact. What was found.

        Items of editors are removed, so that editors of the same names can come.
        """
        editors = [client for client in clients if isinstance(client, writers.Editor)]
        counters = [client for client in clients if isinstance(client, writers.Counter)]
        items = sum(self.compare(server, editor) for editor in editors)
        for editor in editors:
            self.delete_items(server, editor)
        for counter in counters:
            self.send_again(server, counter)
        taps = json.loads(server.get(COUNTED)[2]).get("counters", {}).get("taps", 0)
        answered = self.taps + sum(counter.answered for counter in counters)
        most = answered + sum(counter.unanswered for counter in counters)
        require(answered <= taps <= most, f"{taps} taps in place of {answered} to {most}")
        self.taps = taps
        return f"{items} items as written, {taps} taps of {answered} to {most}"

    def compare(self, server, editor):
        """How many of an editor's items are as it wrote them, or as they were before where a write has
        no answer."""
        for number in range(editor.most_items):
            id = f"{editor.name}/{number}"
            status, _, body = server.get("/v1/items/" + quote(id, safe=""))
            require(status in (200, 404), f"{id}: {status}")
            item = json.loads(body) if status == 200 else {}
            found = item.get("title")
            allowed = editor.uncertain.get(id, {editor.items.get(id)})
            require(found in allowed, f"{id}: {found}, and not one of {allowed}")
            require(item.get("text", "").startswith(found or ""), f"{id}: half of a write")
        return editor.most_items

    def send_again(self, server, counter):
        """Sends again what has a key and no answer, so that it is known to count once."""
        tally = Tally(server, self.seed)
        counter.tally, counter.port = tally, server.port
        for key, amount in list(counter.unanswered_keys.items()):
            counter.increment(amount, key)
        counter.disconnect()
        require(not tally.problems, f"{tally.problems}")

    def delete_items(self, server, editor):
        editor.tally, editor.port = Tally(server, self.seed), server.port
        for id in set(editor.items) | set(editor.uncertain):
            path = "/v1/items/" + quote(id, safe="")
            # A commit that was killed between the WAL and its index is absent as long as another process has the
            # database open, and comes back with the next recovery. A write after it ends it.
            if id in editor.uncertain:
                editor.ask("PUT", path, {201, 204}, writers.JSON_FIELDS, '{"type":"text"}')
            editor.ask("DELETE", path, {204, 404}, writers.AUTHORIZATION)
        editor.disconnect()
