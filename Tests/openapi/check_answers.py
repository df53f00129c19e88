#!/usr/bin/env python3
"""Checks that a running server answers as openapi.json says.

    check_answers.py http://127.0.0.1:8080

Needs a seeded server, and openapi-spec-validator and jsonschema from PyPI. The document is the one in
Sources; the server must serve the same. Exit status 0 where all holds, 1 where something does not.
"""

import collections
import http.client
import itertools
import json
import pathlib
import re
import socket
import sys
from urllib.parse import quote, urlsplit

import jsonschema
import openapi_spec_validator
import referencing
import referencing.jsonschema

DOCUMENT = pathlib.Path(__file__).parents[2] / "Sources/FeedServer/openapi.json"
REQUEST_ID = "check-answers/1"
# On every answer, or of HTTP itself: said once in the description, or nowhere.
COMMON = {
    "access-control-allow-origin", "access-control-expose-headers", "x-content-type-options",
    "content-type", "content-length", "connection", "date",
}
# What the answer `default` stands for.
REFUSALS = {400, 404, 408, 414, 417, 431, 500, 501, 505}

Answer = collections.namedtuple("Answer", "status headers body")


class Checks:
    """Counts what holds and prints what does not."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def that(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}")
        return holds


class Document:
    """The description, its references resolved."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        self.root = json.loads(self.bytes)
        resource = referencing.Resource(self.root, referencing.jsonschema.DRAFT202012)
        self.registry = referencing.Registry().with_resource("urn:openapi", resource)
        formats = jsonschema.FormatChecker()
        self.formats = formats if "date-time" in formats.checkers else None

    def resolve(self, node):
        while "$ref" in node:
            target = self.root
            for part in node["$ref"][2:].split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def errors(self, schema, value):
        schema = rebased(schema)
        validator = jsonschema.Draft202012Validator(
            schema, registry=self.registry, format_checker=self.formats)
        return [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(value)]

    def parameters(self, template, method, place):
        item = self.root["paths"][template]
        nodes = item.get("parameters", []) + item[method].get("parameters", [])
        found = [self.resolve(node) for node in nodes]
        return {p["name"]: p for p in found if p["in"] == place}

    def response(self, template, method, status):
        responses = self.root["paths"][template][method]["responses"]
        node = responses.get(str(status), responses.get("default"))
        return self.resolve(node) if node else None


def rebased(node):
    """The schema with its references made absolute, so that it can be used out of its place."""
    if isinstance(node, dict):
        return {
            key: "urn:openapi" + value if key == "$ref" else rebased(value)
            for key, value in node.items()
        }
    return [rebased(value) for value in node] if isinstance(node, list) else node


class Server:
    def __init__(self, base):
        parts = urlsplit(base)
        self.host, self.port = parts.hostname, parts.port or 80
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=10)

    def send(self, method, target, **headers):
        fields = {"X-Request-Id": REQUEST_ID}
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        self.connection.request(method, target, headers=fields)
        response = self.connection.getresponse()
        body = response.read()
        names = collections.defaultdict(list)
        for name, value in response.getheaders():
            names[name.lower()].append(value)
        return Answer(response.status, {k: ", ".join(v) for k, v in names.items()}, body)

    def send_raw(self, data):
        """Sends bytes that no client library would, and reads to the end."""
        with socket.create_connection((self.host, self.port), timeout=10) as connection:
            connection.sendall(data)
            response = http.client.HTTPResponse(connection)
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, response.read())


class Suite:
    def __init__(self, base):
        self.check = Checks()
        self.document = Document(DOCUMENT)
        self.server = Server(base)
        self.seen = set()

    # One answer against the document.

    def ask(self, method, template, target, expected, parameter=None, kind=None, **headers):
        answer = self.server.send(method, target, **headers)
        label = f"{method} {target} {headers or ''}"
        self.judge(answer, template, method.lower(), label, expected, parameter, kind)
        self.check.that(
            answer.headers.get("x-request-id") == REQUEST_ID, f"{label}: X-Request-Id is not echoed")
        if answer.body and answer.headers.get("content-type", "").endswith("json"):
            return json.loads(answer.body), answer
        return None, answer

    def judge(self, answer, template, method, label, expected, parameter=None, kind=None):
        expected = expected if isinstance(expected, tuple) else (expected,)
        if not self.check.that(
            answer.status in expected, f"{label}: {answer.status}, not {expected}: {answer.body[:300]}"
        ):
            return
        self.seen.add((template, method, answer.status))
        response = self.document.response(template, method, answer.status)
        responses = self.document.root["paths"][template][method]["responses"]
        if not self.check.that(
            response and (str(answer.status) in responses or method == "head"
                          or answer.status in REFUSALS),
            f"{label}: {answer.status} is not described"
        ):
            return
        self.judge_headers(answer, response, label)
        self.judge_content(answer, response, method, label, parameter, kind)

    def judge_headers(self, answer, response, label):
        described = {
            name.lower(): self.document.resolve(node)
            for name, node in response.get("headers", {}).items()
        }
        unknown = set(answer.headers) - set(described) - COMMON
        self.check.that(not unknown, f"{label}: fields {unknown} are not described")
        for name, header in described.items():
            value = answer.headers.get(name)
            if value is None:
                self.check.that(not header.get("required"), f"{label}: {name} is missing")
            else:
                errors = self.document.errors(header["schema"], value)
                self.check.that(not errors, f"{label}: {name}: {errors}")
        self.check.that(
            answer.headers.get("access-control-allow-origin") == "*", f"{label}: no CORS field")

    def judge_content(self, answer, response, method, label, parameter, kind):
        content = response.get("content")
        if method == "head" or content is None:
            self.check.that(not answer.body, f"{label}: there is content")
            return
        media_type = answer.headers.get("content-type")
        if not self.check.that(media_type in content, f"{label}: content of type {media_type}"):
            return
        value = json.loads(answer.body)
        errors = self.document.errors(content[media_type]["schema"], value)
        self.check.that(not errors, f"{label}: {errors[:3]}")
        if media_type == "application/problem+json":
            self.check.that(value["status"] == answer.status, f"{label}: status {value['status']}")
            self.check.that(
                value["instance"] == answer.headers["x-request-id"],
                f"{label}: instance {value['instance']}")
            if kind:
                self.check.that(value["type"].endswith(":" + kind), f"{label}: {value['type']}")
            if parameter:
                self.check.that(
                    value.get("parameter") == parameter,
                    f"{label}: parameter {value.get('parameter')}, not {parameter}")

    # The document itself.

    def check_document(self):
        try:
            openapi_spec_validator.validate(self.document.root)
            self.check.that(True, "")
        except Exception as error:  # whatever the library finds
            self.check.that(False, f"openapi.json is not OpenAPI: {error}")
        for name, response in self.document.root["components"]["responses"].items():
            for content in response.get("content", {}).values():
                if "example" in content:
                    errors = self.document.errors(content["schema"], content["example"])
                    self.check.that(not errors, f"example of {name}: {errors}")
        self.check_schema_examples(self.document.root["components"], "components")
        answer = self.server.send("GET", "/openapi.json")
        self.check.that(answer.body == self.document.bytes, "the server serves another openapi.json")

    def check_schema_examples(self, node, path):
        if isinstance(node, dict):
            if isinstance(node.get("examples"), list):
                for example in node["examples"]:
                    errors = self.document.errors(node, example)
                    self.check.that(not errors, f"examples of {path}: {errors}")
            for key, value in node.items():
                if key not in ("example", "examples"):
                    self.check_schema_examples(value, f"{path}.{key}")

    # Every route.

    def check_route(self, template, target, query=""):
        """What holds for every route: conditional requests, HEAD, OPTIONS, other methods."""
        # A page's plan rests on these fields, so the same ones are sent with both.
        full = target + query
        _, answer = self.ask("GET", template, full, 200)
        _, head = self.ask("HEAD", template, full, 200)
        ignored = {"date"}
        self.check.that(
            {k: v for k, v in head.headers.items() if k not in ignored}
            == {k: v for k, v in answer.headers.items() if k not in ignored},
            f"HEAD {full} has other fields than GET")
        tag = answer.headers.get("etag")
        if tag:
            for value in (tag, "W/" + tag, '"x", ' + tag, "*"):
                self.ask("GET", template, full, 304, If_None_Match=value)
                self.ask("HEAD", template, full, 304, If_None_Match=value)
            self.ask("GET", template, full, 200, If_None_Match='"x"')
            self.ask("GET", template, full, 200, If_Match=tag)
            self.ask("GET", template, full, 200, If_Match="*")
            for value in ('"x"', "W/" + tag):
                self.ask("GET", template, full, 412, kind="precondition-failed", If_Match=value)
                self.ask("HEAD", template, full, 412, If_Match=value)
        self.ask("OPTIONS", template, target, 204)
        self.ask("OPTIONS", template, full, 204, Origin="https://app.example",
                 Access_Control_Request_Method="GET")
        for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE"):
            answer = self.server.send(method, target)
            label = f"{method} {target}"
            self.judge(answer, template, "get", label, 405, kind="method-not-allowed")

    def check_query(self, template, target, companions):
        """Names and bounds of the query's parameters, as the document has them."""
        described = self.document.parameters(template, "get", "query")
        separator = "&" if "?" in target else "?"
        problem, _ = self.ask(
            "GET", template, target + separator + "unknown=1", 400, "unknown", "invalid-parameter")
        self.ask("HEAD", template, target + separator + "unknown=1", 400)
        if problem:
            names = re.search(r"the route has (.*)\.$", problem["detail"])[1]
            served = set() if names == "none" else set(names.split(", "))
            self.check.that(served == set(described), f"{target} has the parameters {served}")
        for name, parameter in described.items():
            schema = parameter["schema"]
            base = target + separator + companions.get(name, "")
            if parameter.get("required"):
                base, separator_here = target.split("?")[0] + "?", ""
                self.ask("GET", template, base, 400, name, "invalid-parameter")
            else:
                separator_here = "&" if companions.get(name) else ""

            def ask(value, expected):
                blamed = name if expected == 400 else None
                self.ask(
                    "GET", template, f"{base}{separator_here}{name}={quote(str(value), safe='')}",
                    expected, blamed)

            ask("", 400)
            ask("%FF", (200, 400, 404))
            value = next(iter(self.values(schema, name)), "x")
            double = f"{base}{separator_here}{name}={quote(str(value))}&{name}={quote(str(value))}"
            self.ask("GET", template, double, 400, name, "invalid-parameter")
            self.ask("GET", template, f"{base}{separator_here}{name}=%zz", 400, name)
            if schema["type"] == "integer":
                ask(schema["minimum"], 200)
                ask(schema["maximum"], 200)
                for bad in (schema["minimum"] - 1, schema["maximum"] + 1, "1.5", "01", "+1", "x",
                            "1e1", " 1", 10**30):
                    ask(bad, 400)
            if "enum" in schema:
                for value in schema["enum"]:
                    ask(value, 200)
                for bad in ("yes", schema["enum"][0].upper(), "2"):
                    ask(bad, 400)

    def values(self, schema, name):
        if schema["type"] == "integer":
            return [schema["minimum"]]
        if name in ("after", "before"):
            return [self.cursor]
        return schema.get("enum", []) or schema.get("examples", [])

    # Pages.

    def check_page(self, template, target, expected=200, **headers):
        page, answer = self.ask("GET", template, target, expected, **headers)
        if answer.status != 200 or not page:
            return page
        label = f"GET {target} {headers or ''}"
        paging, prefetch = page["paging"], page["prefetch"]
        self.check.that(
            prefetch["planBytes"] == sum(part["bytes"] for part in prefetch["plan"]),
            f"{label}: planBytes")
        for part in prefetch["plan"]:
            self.check.that(
                part["range"][1] - part["range"][0] + 1 == part["bytes"], f"{label}: range {part}")
        items = {item["id"]: item for item in page["items"]}
        self.check.that(len(items) == len(page["items"]), f"{label}: an item twice")
        for part in prefetch["plan"]:
            media = [m["id"] for m in items.get(part["item"], {}).get("media", [])]
            self.check.that(
                part["item"] in items and part.get("media", None) in (media or [None]),
                f"{label}: the plan names what is not there: {part}")
        for name in ("next", "prev"):
            self.check.that(
                (paging[name] is None) == (name not in paging["links"]), f"{label}: link {name}")
        self.check.that(
            (paging["next"] is None) == (prefetch["nextPageAt"] is None), f"{label}: nextPageAt")
        field = ", ".join(f'<{paging["links"][n]}>; rel="{n}"' for n in ("next", "prev")
                          if n in paging["links"])
        self.check.that(answer.headers.get("link", "") == field, f"{label}: Link")
        return page

    def check_pages(self, name, total):
        feed = quote(name, safe="")
        for template, target in (
            ("/rp/", f"/rp/?feed={feed}&"), ("/v1/feeds/{feed}/items", f"/v1/feeds/{feed}/items?")
        ):
            for limit, network, saving, budget in itertools.product(
                ("", "1", "100"), ("", "network=wifi", "network=offline", "downlink=300&rtt=900", "rtt=0"),
                ("", "true", "off"), ("", "0", "1000000")
            ):
                pieces = [
                    limit and f"limit={limit}", network, saving and f"saveData={saving}",
                    budget and f"budget={budget}",
                ]
                self.check_page(template, (target + "&".join(filter(None, pieces))).rstrip("?&"))
            for place in ("offset=3&limit=5", f"offset={total}", "offset=9007199254740991",
                          "around=offset:0", "around=offset:5&limit=1", "around=offset:3&limit=100",
                          "around=offset:2&leading=99&trailing=0", "around=offset:9007199254740991",
                          "around=offset:4&leading=0", "around=offset:4&trailing=99&leading=0"):
                self.check_page(template, target + place)
            for field, value in (("ECT", "4g"), ("ECT", "nonsense"), ("Downlink", "1.55"),
                                 ("Downlink", "-1"), ("RTT", "0"), ("RTT", "soon"),
                                 ("Save-Data", "on"), ("Save-Data", "ON"), ("Save-Data", "?1")):
                self.check_page(template, target.rstrip("?&"), **{field: value})
            self.walk(template, target, total)
            self.check_page_errors(template, target)

    def walk(self, template, target, total):
        """Follows the links to the end and back."""
        seen, pages, link = [], [], f"{target}limit=7"
        while link:
            page = self.check_page(template, link)
            pages.append([item["id"] for item in page["items"]])
            seen += pages[-1]
            last, link = page, page["paging"]["links"].get("next")
            self.cursor = page["paging"]["newer"]
            for item in page["items"][:2]:
                self.check_page(template, f"{target}around={quote(item['id'], safe='')}&limit=3")
        self.check.that(
            len(seen) == len(set(seen)) == total, f"{target}: {len(seen)} of {total} items walked")
        link = last["paging"]["links"].get("prev")
        back = []
        while link:
            page = self.check_page(template, link)
            back.append([item["id"] for item in page["items"]])
            link = page["paging"]["links"].get("prev")
        self.check.that(
            sum(reversed(back), []) == sum(pages[:-1], []), f"{target}: the way back differs")
        self.check_page(template, f"{target}before={self.cursor}")
        self.check_page(template, f"{target}after={self.cursor}&offset=2")
        self.check_page(template, f"{target}after={self.cursor}&before={self.cursor}")

    def check_page_errors(self, template, target):
        cursor = self.cursor
        for query, parameter, kind in (
            ("after=x", "after", "invalid-cursor"),
            ("before=AAAA", "before", "invalid-cursor"),
            (f"after={cursor}A", "after", "invalid-cursor"),
            (f"after={cursor[:-1]}", "after", "invalid-cursor"),
            (f"before={cursor[:-1]}{'A' if cursor[-1] != 'A' else 'B'}", "before", "invalid-cursor"),
            ("network=moon", "network", "invalid-parameter"),
            ("network=3g&downlink=1", "downlink", "invalid-parameter"),
            ("network=3g&rtt=1", "rtt", "invalid-parameter"),
            ("leading=1", "leading", "invalid-parameter"),
            ("trailing=1", "trailing", "invalid-parameter"),
            ("around=offset:", "around", "invalid-parameter"),
            ("around=offset:x", "around", "invalid-parameter"),
            ("around=offset:01", "around", "invalid-parameter"),
            ("around=offset:9007199254740992", "around", "invalid-parameter"),
            ("around=offset:1&limit=2&leading=1", "limit", "invalid-parameter"),
            ("around=offset:1&leading=60&trailing=60", "leading", "invalid-parameter"),
            ("around=offset:1&offset=1", "offset", "invalid-parameter"),
            (f"around=offset:1&after={cursor}", "after", "invalid-parameter"),
            (f"around=offset:1&before={cursor}", "before", "invalid-parameter"),
        ):
            self.ask("GET", template, target + query, 400, parameter, kind)
        self.ask("GET", template, target + "around=no%20such%20item", 404, "around", "unknown-item")
        self.ask("HEAD", template, target + "around=no%20such%20item", 404)

    # What the server refuses before it looks for a route.

    def check_refusals(self):
        get = b"GET /healthz HTTP/1.1\r\n"
        host = b"Host: localhost\r\n"
        for what, data, status in (
            ("no Host", get + b"\r\n", 400),
            ("a space before the colon", get + host + b"A : b\r\n\r\n", 400),
            ("a long request line", b"GET /healthz?" + b"a" * 20_000 + b" HTTP/1.1\r\n", 414),
            ("a large head", get + host + b"A: " + b"b" * 40_000 + b"\r\n\r\n", 431),
            ("many fields", get + host + b"A: b\r\n" * 200 + b"\r\n", 431),
            ("another expectation", get + host + b"Expect: miracles\r\n\r\n", 417),
            ("another transfer coding", get + host + b"Transfer-Encoding: x, chunked\r\n\r\n", 501),
            ("another method", b"BREW /healthz HTTP/1.1\r\n" + host + b"\r\n", 501),
            ("another version", b"GET /healthz HTTP/3.0\r\n" + host + b"\r\n", 505),
        ):
            try:
                self.judge(self.server.send_raw(data), "/healthz", "get", what, status)
            except OSError as error:
                self.check.that(False, f"{what}: {error}")

    def run(self):
        self.check_document()
        feeds, _ = self.ask("GET", "/v1/feeds", "/v1/feeds", 200)
        if not self.check.that(feeds and feeds["feeds"], "the server has no feeds: seed it"):
            return
        self.cursor = ""
        for feed in feeds["feeds"]:
            single, _ = self.ask("GET", "/v1/feeds/{feed}", f"/v1/feeds/{quote(feed['name'], safe='')}", 200)
            self.check.that(single == feed, f"the feed {feed['name']} differs from the one in the list")
            self.check_pages(feed["name"], feed["total"])
        name = quote(feeds["feeds"][0]["name"], safe="")
        page, _ = self.ask("GET", "/rp/", f"/rp/?feed={name}&limit=100", 200)
        short, _ = self.ask("GET", "/rp/", f"/rp?feed={name}&limit=100", 200)
        self.check.that(page == short, "/rp differs from /rp/")
        self.cursor = page["paging"]["newer"]
        for item in page["items"]:
            for network in ("", "?network=wifi", "?rtt=5000"):
                self.ask("GET", "/v1/items/{id}",
                         f"/v1/items/{quote(item['id'], safe='')}{network}", 200)
        self.ask("GET", "/v1/networks", "/v1/networks", 200)
        for feed in feeds["feeds"]:
            target = f"/v1/networks?feed={quote(feed['name'], safe='')}"
            self.ask("GET", "/v1/networks", target, 200)

        item = "/v1/items/" + quote(page["items"][0]["id"], safe="")
        around = "around=offset:0&"
        companions = {"leading": around + "trailing=0", "trailing": around + "leading=0"}
        for template, target, query in (
            ("/rp/", "/rp/", f"?feed={name}"),
            ("/v1/feeds/{feed}/items", f"/v1/feeds/{name}/items", "?limit=3&network=lte"),
            ("/v1/feeds", "/v1/feeds", ""),
            ("/v1/feeds/{feed}", f"/v1/feeds/{name}", ""),
            ("/v1/items/{id}", item, "?network=wifi"),
            ("/v1/networks", "/v1/networks", f"?feed={name}"),
            ("/openapi.json", "/openapi.json", ""),
            ("/healthz", "/healthz", ""),
            ("/readyz", "/readyz", ""),
        ):
            self.check_route(template, target, query)
            self.check_query(template, target + (query if template == "/rp/" else ""), companions)

        for template, target, kind in (
            ("/rp/", "/rp/?feed=no-such-feed", "unknown-feed"),
            ("/v1/feeds/{feed}/items", "/v1/feeds/no-such-feed/items", "unknown-feed"),
            ("/v1/feeds/{feed}", "/v1/feeds/no%20such%2Ffeed", "unknown-feed"),
            ("/v1/items/{id}", "/v1/items/no-such-item", "unknown-item"),
            ("/v1/networks", "/v1/networks?feed=no-such-feed", "unknown-feed"),
        ):
            self.ask("GET", template, target, 404, kind=kind)
            self.ask("HEAD", template, target, 404)
        for target in ("/v1/feeds/%zz", "/v1/feeds/%00", "/v1/feeds/%FF"):
            self.ask("GET", "/v1/feeds/{feed}", target, 400, kind="malformed-request")
        self.ask("GET", "/v1/feeds", "/no/such/route", 404, kind="unknown-route")
        self.check_refusals()

        described = {
            (template, method) for template, item in self.document.root["paths"].items()
            for method in item if method != "parameters"
        }
        asked = {(template, method) for template, method, _ in self.seen}
        self.check.that(described == asked, f"never asked: {described - asked}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    suite = Suite(sys.argv[1])
    try:
        suite.run()
    except (OSError, http.client.HTTPException) as error:
        suite.check.that(False, f"the server does not answer: {error!r}")
    print(f"{suite.check.passed} passed, {suite.check.failed} failed")
    return 1 if suite.check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
