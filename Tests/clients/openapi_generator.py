"""Fetches from a server with the client that openapi-generator makes for Python."""

import sys

from openapi_client import (
    ApiClient, ApiException, Configuration, DefaultApi, PlanState, PostType, Record, RecordAuthor,
    RecordPlacement)

base, token = sys.argv[1:]
api = DefaultApi(ApiClient(Configuration(host=base, access_token=token)))

ids, after = [], None
while True:
    page = api.get_page(feed="featured", limit=7, after=after)
    ids += [item.id for item in page.items]
    after = page.paging.next
    if after is None:
        break
assert len(ids) == len(set(ids)) == page.feed.total > 20, (len(ids), page.feed.total)

around = api.get_page(feed="featured", around=ids[9], leading=2, trailing=1)
assert [item.id for item in around.items] == ids[8:12]
item = api.get_item(id=ids[0])
assert item.id == ids[0] and "featured" in [feed.name for feed in item.feeds]
files = [file for item in api.get_page(feed="featured").items for file in item.media or []]
assert any(file.bytes for file in files), "no file has a size"

extra = {"price": 12.5, "sizes": ["S", {"m": None}]}
record = Record(
    type=PostType.TEXT, text="made by a generated client", extra=extra,
    author=RecordAuthor(name="Ann"), feeds=[RecordPlacement(name="made")])
api.put_item(id="made by a client", record=record)
made = api.get_item(id="made by a client")
assert made.extra == extra and made.author.name == "Ann" and made.author.id is None, made
api.delete_item(id="made by a client")
try:
    api.get_item(id="made by a client")
    raise AssertionError("it is still there")
except ApiException as problem:
    assert problem.status == 404 and "unknown-item" in problem.body, problem

plan = api.plan(PlanState(feed="featured", items=ids[:3], active=ids[0]))
assert plan.actions and plan.actions[0].item in ids, plan
assert api.get_networks().networks and api.get_feeds().feeds
print(f"{len(ids)} items, {len(files)} files, {len(plan.actions)} actions")
