"""Reads what a server answers into the models that datamodel-code-generator makes, and writes with them."""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import models

base, token = sys.argv[1:]


def ask(target, model=None, method="GET", body=None):
    request = urllib.request.Request(base + target, method=method)
    if body is not None:
        request.data = body.model_dump_json(exclude_none=True).encode()
        request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read()
    return model.model_validate_json(text) if model else text


ids, target = [], "/v1/feeds/featured/items?limit=7"
while target:
    page = ask(target, models.Page)
    ids += [item.id for item in page.items]
    target = page.paging.links.next
assert len(ids) == len(set(ids)) == page.feed.total > 20, (len(ids), page.feed.total)

item = ask(f"/v1/items/{urllib.parse.quote(ids[0], safe='')}", models.ItemInFeeds)
assert item.id == ids[0] and item.feeds
files = [file for item in ask("/rp/?feed=featured", models.Page).items for file in item.media or []]
assert any(file.bytes for file in files), "no file has a size"

extra = {"price": 12.5, "sizes": ["S", {"m": None}]}
record = models.Record.model_validate(
    {"type": "text", "text": "made by a client", "author": {"name": "Ann"}, "extra": extra})
ask("/v1/items/made", method="PUT", body=record)
made = ask("/v1/items/made", models.ItemInFeeds)
assert json.loads(made.extra.model_dump_json()) == extra and made.author.id is None, made
ask("/v1/items/made", method="DELETE")
try:
    ask("/v1/items/made")
    raise AssertionError("it is still there")
except urllib.error.HTTPError as error:
    problem = models.Problem.model_validate_json(error.read())
    assert problem.status == 404, problem

state = models.PlanState.model_validate({"feed": "featured", "items": ids[:3], "active": ids[0]})
actions = ask("/v1/plan", models.Plan, method="POST", body=state).actions
assert actions and actions[0].item in ids, actions
assert ask("/v1/networks", models.Networks).networks and ask("/v1/feeds", models.Feeds).feeds
print(f"{len(ids)} items, {len(files)} files, {len(actions)} actions")
