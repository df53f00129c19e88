"""Fetches from a server with the client that openapi-python-client makes."""

import sys

from lookahead_client import AuthenticatedClient
from lookahead_client.api.default import (
    delete_item, get_feeds, get_item, get_networks, get_page, plan, put_item)
from lookahead_client.models import (
    Extra, PlanState, PostType, Problem, Record, RecordAuthor, RecordPlacement)
from lookahead_client.types import UNSET

base, token = sys.argv[1:]
client = AuthenticatedClient(base_url=base, token=token)

ids, after = [], UNSET
while True:
    page = get_page.sync("featured", client=client, limit=7, after=after)
    ids += [item.id for item in page.items]
    after = page.paging.next_
    if after is None:
        break
assert len(ids) == len(set(ids)) == page.feed.total > 20, (len(ids), page.feed.total)

around = get_page.sync("featured", client=client, around=ids[9], leading=2, trailing=1)
assert [item.id for item in around.items] == ids[8:12]
item = get_item.sync(ids[0], client=client)
assert item.id == ids[0] and "featured" in [feed.name for feed in item.feeds]
page = get_page.sync("featured", client=client)
files = [file for item in page.items for file in item.media or []]
assert any(file.bytes_ for file in files), "no file has a size"

extra = {"price": 12.5, "sizes": ["S", {"m": None}]}
record = Record(
    type_=PostType.TEXT, text="made by a generated client", extra=Extra.from_dict(extra),
    author=RecordAuthor(name="Ann"), feeds=[RecordPlacement(name="made")])
put_item.sync("made by a client", client=client, body=record)
made = get_item.sync("made by a client", client=client)
assert made.extra.to_dict() == extra and made.author.name == "Ann" and made.author.id is UNSET, made
delete_item.sync("made by a client", client=client)
gone = get_item.sync("made by a client", client=client)
assert isinstance(gone, Problem) and gone.status == 404, gone

state = PlanState(feed="featured", items=ids[:3], active=ids[0])
actions = plan.sync(client=client, body=state).actions
assert actions and actions[0].item in ids, actions
assert get_networks.sync(client=client).networks and get_feeds.sync(client=client).feeds
print(f"{len(ids)} items, {len(files)} files, {len(actions)} actions")
