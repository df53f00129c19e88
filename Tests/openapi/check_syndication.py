#!/usr/bin/env python3
"""Reads every feed of a running server as other programs do: RSS with feedparser, JSON Feeds by their version's rules.

    check_syndication.py http://127.0.0.1:8080

Needs feedparser from PyPI. Exit status 0 where all holds.
"""

import json
import sys
import urllib.parse
import urllib.request

import feedparser

BASE = sys.argv[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.headers, answer.read()


def is_absolute(url):
    return urllib.parse.urlsplit(url).scheme in ("http", "https")


def items(feed):
    """The ids of a feed's items, by the server's own pages."""
    target, ids = f"/v1/feeds/{urllib.parse.quote(feed, safe='')}/items?limit=100", []
    while target:
        page = json.loads(get(BASE + target)[1])
        ids += [item["id"] for item in page["items"]]
        target = page["paging"]["links"].get("next")
    return ids


def rss(url):
    """The ids of a walk through RSS."""
    ids = []
    while url:
        headers, body = get(url)
        assert headers["Content-Type"] == "application/rss+xml; charset=utf-8", headers["Content-Type"]
        fields = {name.lower(): value for name, value in headers.items()}
        feed = feedparser.parse(body, response_headers=fields)
        assert not feed.bozo, (url, feed.bozo_exception)
        assert feed.version == "rss20" and feed.feed.title and is_absolute(feed.feed.link), feed.feed
        links = {link.rel: link.href for link in feed.feed.links}
        assert links["self"] == url, (links, url)
        for entry in feed.entries:
            assert entry.get("title") or entry.get("summary"), entry
            assert is_absolute(entry.link), entry.link
            assert all(is_absolute(file.href) for file in entry.enclosures), entry.enclosures
            assert all(is_absolute(file["url"]) for file in entry.get("media_content", [])), entry
            assert ("published" in entry) == (entry.get("published_parsed") is not None), entry
        ids += [entry.id for entry in feed.entries]
        url = links.get("next")
    return ids


def json_feed(url):
    """The ids of a walk through JSON Feeds (jsonfeed.org/version/1.1)."""
    ids = []
    while url:
        headers, body = get(url)
        assert headers["Content-Type"] == "application/feed+json", headers["Content-Type"]
        feed = json.loads(body)
        assert feed["version"] == "https://jsonfeed.org/version/1.1" and feed["title"], feed
        assert feed["feed_url"] == url and is_absolute(feed["home_page_url"]), feed["feed_url"]
        for item in feed["items"]:
            assert isinstance(item["id"], str) and is_absolute(item["url"]), item
            assert "content_text" in item or "content_html" in item, item
            for author in item.get("authors", []):
                assert {"name", "url", "avatar"} & set(author), author
            for file in item.get("attachments", []):
                assert is_absolute(file["url"]) and "/" in file["mime_type"], file
        ids += [item["id"] for item in feed["items"]]
        url = feed.get("next_url")
    return ids


count = 0
for feed in json.loads(get(BASE + "/v1/feeds?limit=100")[1])["feeds"]:
    expected = items(feed["name"])
    # A walk of other sizes than the usual one, too.
    for end in ("", "?limit=7"):
        assert rss(BASE + feed["links"]["rss"] + end) == expected, feed["name"]
        assert json_feed(BASE + feed["links"]["jsonFeed"] + end) == expected, feed["name"]
    count += len(expected)
print(f"check_syndication: {count} items in RSS and in JSON Feeds, all well")
