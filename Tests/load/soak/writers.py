"""Clients that write, and know what must be there afterwards. Each has ids of its own."""

import json
import time
import uuid
from urllib.parse import quote

from soak.client import AUTHORIZATION, Client, NoAnswer
from soak.readers import FEED

JSON_FIELDS = {**AUTHORIZATION, "Content-Type": "application/json"}
RECORD_FIELDS = {**AUTHORIZATION, "Content-Type": "application/x-ndjson"}


class Editor(Client):
    """Puts and deletes items, and reads each write back. `items` has the title of each id."""

    most_items = 60

    def prepare(self):
        self.items = {}
        # Of an id whose last write has no answer: the titles that it may have.
        self.uncertain = {}
        self.revision = 0

    def turn(self):
        id = f"{self.name}/{self.random.randrange(self.most_items)}"
        path = "/v1/items/" + quote(id, safe="")
        before = self.items.get(id)
        try:
            if id in self.items and self.random.random() < 0.3:
                self.delete(id, path, AUTHORIZATION)
                self.ask("GET", path, {404})
            else:
                self.put(id, path)
        except NoAnswer:
            # It may have been done or not.
            self.uncertain[id] = {before, self.items.get(id), f"revision {self.revision}", None}
            raise

    def delete(self, id, path, fields):
        # Before and after: it takes place at some time between the two.
        self.tally.deleted_at[id] = time.monotonic()
        self.ask("DELETE", path, {204}, fields)
        self.tally.deleted_at[id] = time.monotonic()
        del self.items[id]

    def put(self, id, path):
        self.revision += 1
        title = f"revision {self.revision}"
        record = {"type": "text", "title": title, "text": title + "x" * self.random.randrange(3000),
                  "feeds": [{"name": FEED, "rank": self.random.randrange(4000)}]}
        expected = 204 if id in self.items else 201
        self.ask("PUT", path, {expected}, JSON_FIELDS, json.dumps(record))
        self.items[id] = title
        _, fields, content = self.ask("GET", path, {200})
        read = json.loads(content)["title"]
        self.expect(read == title, f"{id}: wrote {title}, read {read}")
        if self.random.random() < 0.2:
            self.ask("PUT", path, {412}, {**JSON_FIELDS, "If-None-Match": "*"}, json.dumps(record))
            self.ask("DELETE", path, {412}, {**AUTHORIZATION, "If-Match": '"other"'})
            self.delete(id, path, {**AUTHORIZATION, "If-Match": fields["ETag"]})
        if self.random.random() < 0.1:
            self.ask("PUT", path, {401}, {"Content-Type": "application/json"}, json.dumps(record))
            self.ask("PUT", path, {422}, JSON_FIELDS, '{"type":"text","oops":1}')


class Counter(Client):
    """Increments that must add up. `answered` is what was confirmed, `unanswered` what may count."""

    shared_item = "counted"

    def prepare(self):
        self.answered = 0
        # Without a key: may have been counted. With one: to be sent again, and counted once.
        self.unanswered = 0
        self.unanswered_keys = {}

    def turn(self):
        amount = self.random.randrange(1, 5)
        if self.random.random() < 0.5:
            try:
                self.increment(amount)
            except NoAnswer:
                self.unanswered += amount
                raise
        else:
            key = str(uuid.UUID(int=self.random.getrandbits(128)))
            self.unanswered_keys[key] = amount
            for _ in range(self.random.choice([1, 1, 2, 3])):
                self.increment(amount, key)
                self.unanswered_keys.pop(key, None)

    def increment(self, amount, key=None):
        fields = dict(JSON_FIELDS)
        if key:
            fields["Idempotency-Key"] = f'"{key}"'
        _, heads, _ = self.ask(
            "POST", f"/v1/items/{self.shared_item}/counters", {200}, fields,
            json.dumps({"taps": amount}))
        if not heads["Idempotent-Replayed"] and (key is None or key in self.unanswered_keys):
            self.answered += amount
        elif key and key in self.unanswered_keys:
            # Counted before, though the answer was lost.
            self.answered += amount


class Importer(Client):
    """Imports of thousands of records: new, the same again, changed, and with nonsense within."""

    pause_seconds = 0.1

    def prepare(self):
        self.round = 0

    def records(self, title):
        return [
            json.dumps({
                "id": f"{self.name}-{number}", "type": "video", "title": title,
                "feeds": [{"name": "imports", "rank": number}]})
            for number in range(3000)
        ]

    def turn(self):
        self.round += 1
        lines = self.records(f"round {self.round}")
        first = {"added": 3000} if self.round == 1 else {"changed": 3000}
        if not self.upload(lines, {"refused": 0, **first}):
            self.round -= 1
            return
        self.upload(lines, {"refused": 0, "unchanged": 3000})
        nonsense = lines[:10] + ["{nonsense", '{"id":"","type":"text"}', "[1", "\x00"] + lines[10:20]
        self.upload(nonsense, {"unchanged": 20, "refused": 4})

    def upload(self, lines, expected):
        """Whether the server had room for it; the counts are those expected."""
        body = ("\n".join(lines) + "\n").encode()
        pieces = (body[start:start + 50_000] for start in range(0, len(body), 50_000))
        status, _, content = self.ask(
            "POST", "/v1/import", {200, 503}, RECORD_FIELDS, pieces, chunked=True)
        if status == 503:
            return False
        counts = json.loads(content)
        found = {name: counts[name] for name in expected}
        self.expect(found == expected, f"import of {len(lines)}: {found} in place of {expected}")
        return True
