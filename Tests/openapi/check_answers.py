#!/usr/bin/env python3
"""Checks that a running server answers as openapi.json says.

    LOOKAHEAD_WRITE_TOKEN=... check_answers.py http://127.0.0.1:8080 MEDIA_ROOT

Needs a seeded server with this token and media root, and openapi-spec-validator and jsonschema-rs from
PyPI. It writes to the server's database. The document is the one in Sources; the server must serve the
same. Exit status 0 where all holds, 1 where something does not.
"""

import collections
import gzip
import http.client
import itertools
import json
import os
import pathlib
import re
import socket
import sys
import urllib.parse
from urllib.parse import quote, urlsplit

import jsonschema_rs
import openapi_spec_validator

DOCUMENT = pathlib.Path(__file__).parents[2] / "Sources/server/FeedServer/openapi.json"
# What HEAD and OPTIONS answer: apart, as clients made of the document would have a method for each.
APART = pathlib.Path(__file__).parent / "head_and_options.json"
REQUEST_ID = "check-answers/1"
# On every answer, or of HTTP itself: said once in the description, or nowhere.
COMMON = {
    "access-control-allow-origin", "access-control-expose-headers", "x-content-type-options",
    "content-type", "content-length", "connection", "date",
}
# With `Prefer: server-timing` on every answer, and else on none.
TIMING = {"server-timing", "timing-allow-origin", "preference-applied"}
# Schemas that others take up (`allOf`).
PARTS = {"Post", "Record"}
# What the answer `default` stands for.
REFUSALS = {400, 404, 408, 413, 414, 417, 431, 500, 501, 505}

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
        apart = json.loads(APART.read_bytes())
        for template, methods in apart["paths"].items():
            self.root["paths"][template].update(methods)
        for kind, parts in apart["components"].items():
            self.root["components"][kind].update(parts)
        # Clients pass over members that they do not know, so that servers may have more; this server has none.
        self.registry = jsonschema_rs.Registry([("urn:openapi", closed(self.root))])
        self.validators = {}

    def resolve(self, node):
        while "$ref" in node:
            target = self.root
            for part in node["$ref"][2:].split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def errors(self, schema, value):
        # A schema of the document is there as long as the document, and so is its address.
        validator = self.validators.get(id(schema))
        if not validator:
            validator = self.validators[id(schema)] = jsonschema_rs.Draft202012Validator(
                rebased(closed(schema, self.root)), registry=self.registry, validate_formats=True)
        return [
            f"{'/'.join(map(str, e.instance_path))}: {e.message[:200]}"
            for e in validator.iter_errors(value)
        ]

    def parameters(self, template, method, place):
        item = self.root["paths"][template]
        nodes = item.get("parameters", []) + item[method].get("parameters", [])
        found = [self.resolve(node) for node in nodes]
        return {p["name"]: p for p in found if p["in"] == place}

    def methods(self, template):
        return {name.upper() for name in self.root["paths"][template] if name != "parameters"}

    def response(self, template, method, status):
        responses = self.root["paths"][template][method]["responses"]
        node = responses.get(str(status), responses.get("default"))
        return self.resolve(node) if node else None


def closed(node, root=None):
    """The schemas with no members but those that they name; what is a part of another is closed there."""
    root = root or node
    if isinstance(node, list):
        return [closed(value, root) for value in node]
    if not isinstance(node, dict):
        return node
    parts = {id(root["components"]["schemas"][name]) for name in PARTS}
    copy = {
        # The parts of an object, inline.
        key: value if key == "allOf" else closed(value, root) for key, value in node.items()
    }
    if "allOf" in node:
        copy.setdefault("unevaluatedProperties", False)
    elif "properties" in node and node.get("type") == "object" and id(node) not in parts:
        copy.setdefault("additionalProperties", False)
    return copy


def rebased(node):
    """The schema with its references made absolute, so that it can be used out of its place."""
    if isinstance(node, dict):
        return {
            key: "urn:openapi" + value if key == "$ref" else rebased(value)
            for key, value in node.items()
        }
    return [rebased(value) for value in node] if isinstance(node, list) else node


def decoded(answer):
    coding = answer.headers.get("content-encoding")
    if coding == "br":
        return b"null"
    return gzip.decompress(answer.body) if coding == "gzip" else answer.body


class Server:
    def __init__(self, base):
        parts = urlsplit(base)
        self.host, self.port = parts.hostname, parts.port or 80
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=10)

    def send(self, method, target, body=None, **headers):
        fields = {"X-Request-Id": REQUEST_ID}
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        self.connection.request(method, target, body, headers=fields)
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


    def begin(self, target, end, **headers):
        """What comes of an answer without an end, up to these bytes."""
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        with socket.create_connection((self.host, self.port), timeout=10) as connection:
            connection.sendall(
                f"GET {target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: {REQUEST_ID}\r\n{lines}\r\n".encode())
            response = http.client.HTTPResponse(connection)
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            body = b""
            while end not in body:
                body += response.read1() or end
            return Answer(response.status, headers, body)


class Suite:
    def __init__(self, base, token, media_root):
        self.check = Checks()
        self.document = Document(DOCUMENT)
        self.server = Server(base)
        self.token = token
        self.media_root = media_root
        self.seen = set()

    # One answer against the document.

    def ask(self, method, template, target, expected, parameter=None, kind=None, body=None, **headers):
        answer = self.server.send(method, target, body, **headers)
        label = f"{method} {target} {headers or ''} {(body or '')[:100]}"
        self.check.that(
            ("Prefer" in headers) == bool(TIMING & set(answer.headers)), f"{label}: Server-Timing")
        self.judge(answer, template, method.lower(), label, expected, parameter, kind)
        self.check.that(
            answer.headers.get("x-request-id") == REQUEST_ID, f"{label}: X-Request-Id is not echoed")
        if answer.body and answer.headers.get("content-type", "").endswith("json"):
            return json.loads(decoded(answer)), answer
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
        is_readable = method in ("get", "head", "options") and template != "/metrics"
        if is_readable or answer.headers.get("content-type") == "application/problem+json":
            self.check.that(
                answer.headers.get("access-control-allow-origin") == "*", f"{label}: no CORS field")
        if "allow" in answer.headers:
            self.check.that(
                set(answer.headers["allow"].split(", ")) == self.document.methods(template),
                f"{label}: Allow: {answer.headers['allow']}")
        self.judge_content(answer, response, method, label, parameter, kind)

    def judge_headers(self, answer, response, label):
        described = {
            name.lower(): self.document.resolve(node)
            for name, node in response.get("headers", {}).items()
        }
        unknown = set(answer.headers) - set(described) - COMMON - TIMING
        self.check.that(not unknown, f"{label}: fields {unknown} are not described")
        for name, header in described.items():
            value = answer.headers.get(name)
            if value is None:
                self.check.that(not header.get("required"), f"{label}: {name} is missing")
            else:
                errors = self.document.errors(header["schema"], value)
                self.check.that(not errors, f"{label}: {name}: {errors}")

    def judge_content(self, answer, response, method, label, parameter, kind):
        content = response.get("content")
        if method == "head" or content is None:
            self.check.that(not answer.body, f"{label}: there is content")
            return
        sent_type = answer.headers.get("content-type", "")
        media_type = next((t for t in (sent_type.split(";")[0], "*/*") if t in content), None)
        if not self.check.that(media_type, f"{label}: content of type {sent_type}"):
            return
        if answer.headers.get("content-encoding") == "br":
            return  # Python has no decoder of its own; the project's tests decode brotli.
        body = decoded(answer)
        value = json.loads(body) if media_type.endswith("json") else body.decode("latin-1")
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
        ignored = {"date"} | ({"content-length"} if template == "/metrics" else set())
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
            self.check_codings(template, full, answer)
        self.ask("GET", template, full, 200, Prefer="wait=1, server-timing")
        self.ask("HEAD", template, full, 200, Prefer="Server-Timing")
        self.check_methods(template, target)

    def check_codings(self, template, target, plain):
        """A coding has a tag of its own, and the same content."""
        if "accept-ranges" in plain.headers:
            return  # Files are sent as they are.
        tags = {plain.headers["etag"]}
        for coding in ("gzip", "br"):
            demand = f"{coding}, identity;q=0"
            _, answer = self.ask("GET", template, target, 200, Accept_Encoding=demand)
            self.check.that(
                answer.headers.get("content-encoding") == coding, f"GET {target} is not {coding}")
            self.check.that(
                coding == "br" or decoded(answer) == plain.body, f"GET {target} differs in {coding}")
            tags.add(answer.headers["etag"])
            self.ask("HEAD", template, target, 200, Accept_Encoding=demand)
            self.ask("GET", template, target, 304, Accept_Encoding=demand,
                     If_None_Match=answer.headers["etag"])
        self.check.that(len(tags) == 3, f"GET {target} has the tags {tags}")
        for nothing in ("*;q=0", "identity;q=0, zstd"):
            self.ask("GET", template, target, 406, kind="not-acceptable", Accept_Encoding=nothing)
            self.ask("HEAD", template, target, 406, Accept_Encoding=nothing)

    def check_methods(self, template, target):
        """OPTIONS, and the methods that the path does not have."""
        described = self.document.methods(template)
        self.ask("OPTIONS", template, target, 204)
        self.ask("OPTIONS", template, target, 204, Origin="https://app.example",
                 Access_Control_Request_Method="GET")
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"):
            if method in described:
                continue
            answer = self.server.send(method, target)
            label = f"{method} {target}"
            other = "get" if "GET" in described else "post"
            if method == "HEAD":
                self.check.that(answer.status == 405 and "allow" in answer.headers, label)
            else:
                self.judge(answer, template, other, label, 405, kind="method-not-allowed")

    def check_query(self, template, target, companions):
        """Names and bounds of the query's parameters, as the document has them."""
        described = self.document.parameters(template, "get", "query")
        separator = "&" if "?" in target else "?"
        problem, _ = self.ask(
            "GET", template, target + separator + "unknown=1", 400, "unknown", "invalid-parameter")
        self.ask("HEAD", template, target + separator + "unknown=1", 400)
        if problem:
            names = re.search(r"known parameters: (.*)\.$", problem["detail"])[1]
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
        # Flags that clients' generators take for booleans are there only where they say something.
        text = json.dumps(page)
        self.check.that(
            '"estimated": false' not in text and '"startable": true' not in text, f"{label}: flags")
        self.check.that(
            prefetch["planBytes"] == sum(part["bytes"] for part in prefetch["plan"]),
            f"{label}: planBytes")
        for part in prefetch["plan"]:
            if "range" in part:
                first, last = part["range"]
                self.check.that(last - first + 1 == part["bytes"], f"{label}: range {part}")
            else:
                self.check.that("estimated" in part, f"{label}: no range {part}")
        items = {item["id"]: item for item in page["items"]}
        self.check.that(len(items) == len(page["items"]), f"{label}: an item twice")
        for part in prefetch["plan"]:
            media = {m["id"]: m for m in items.get(part["item"], {}).get("media", [])}
            self.check.that(
                part["item"] in items and part.get("media", None) in (list(media) or [None]),
                f"{label}: the plan names what is not there: {part}")
            if "variant" in part:
                variants = media[part["media"]].get("variants", [])
                self.check.that(
                    "width=" in target and part["variant"] < len(variants)
                    and part["range"][1] < variants[part["variant"]]["bytes"],
                    f"{label}: the plan names a variant that is not there: {part}")
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
                          "around=offset:4&leading=0", "around=offset:4&trailing=99&leading=0",
                          "width=1", "width=390&network=wifi", "width=16384&limit=100"):
                self.check_page(template, target + place)
            for field, value in (("ECT", "4g"), ("ECT", "nonsense"), ("Downlink", "1.55"),
                                 ("Downlink", "-1"), ("RTT", "0"), ("RTT", "soon"),
                                 ("Save-Data", "on"), ("Save-Data", "ON"), ("Save-Data", "?1")):
                self.check_page(template, target.rstrip("?&"), **{field: value})
            self.walk(template, target, total)
            self.check_page_errors(template, target)

    def check_feed_list(self, total):
        """The list of feeds: its pages forwards and back, and cursors that are not its own."""
        template, names, back = "/v1/feeds", [], None
        for limit in ("1", "2", "100"):
            link, met = f"/v1/feeds?limit={limit}", []
            while link:
                page, _ = self.ask("GET", template, link, 200)
                self.check.that(page["total"] == total, f"{link}: a total of {page['total']}")
                met += [feed["name"] for feed in page["feeds"]]
                back, link = page["paging"]["links"].get("prev"), page["paging"]["links"].get("next")
            names = names or met
            self.check.that(met == names and len(met) == total, f"limit {limit} meets {met}")
        if back:
            self.ask("GET", template, back, 200)
        for name in ("after", "before"):
            for cursor in ("x", "AAAA", self.cursor or "AQ"):
                self.ask("GET", template, f"/v1/feeds?{name}={cursor}", 400, name, "invalid-cursor")

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

    # Media files.

    def check_media(self):
        template = "/media/{path}"
        for file in sorted(self.media_root.rglob("*")):
            # What is on its way is no file yet.
            if not file.is_file() or ".uploads" in file.parts:
                continue
            content = file.read_bytes()
            target = "/media/" + quote(str(file.relative_to(self.media_root)))
            self.check_route(template, target)
            self.check_query(template, target, {})
            _, answer = self.ask("GET", template, target, 200)
            self.check.that(answer.body == content, f"GET {target}: other content")
            self.check_ranges(template, target, content, answer.headers)
        for bad in ("no-such-file", "no/such/folder", ".hidden", "..", "%2e%2e/feed.sqlite", "a%2Fb",
                    "a%00b", "%FF", ""):
            self.ask("GET", template, "/media/" + bad, (400, 404))
            self.ask("HEAD", template, "/media/" + bad, (400, 404))
        self.ask("GET", template, "/media/no-such-file", 404, kind="unknown-media")

    def check_ranges(self, template, target, content, headers):
        size, tag, modified = len(content), headers["etag"], headers["last-modified"]
        for value, first, last in (
            ("bytes=0-0", 0, 0), ("bytes=0-", 0, size - 1), ("bytes=-1", size - 1, size - 1),
            (f"bytes=-{size * 2}", 0, size - 1), (f"bytes=1-{size * 2}", 1, size - 1),
            ("bytes=0-0, 99999999-", 0, 0),
        ):
            for condition in ({}, {"If_Range": tag}, {"If_Range": modified}, {"If_Match": tag}):
                _, answer = self.ask("GET", template, target, 206, Range=value, **condition)
                label = f"GET {target} Range: {value} {condition}"
                self.check.that(answer.body == content[first:last + 1], f"{label}: other content")
                self.check.that(
                    answer.headers.get("content-range") == f"bytes {first}-{last}/{size}",
                    f"{label}: {answer.headers.get('content-range')}")
        _, answer = self.ask("GET", template, target, 206, Range="bytes=0-0, -1")
        self.check.that(
            answer.headers["content-type"].startswith("multipart/byteranges; boundary=")
            and "content-range" not in answer.headers, f"GET {target}: not several parts")
        for value in (f"bytes={size}-", "bytes=-0", f"bytes={size}-{size + 1}, -0"):
            _, answer = self.ask(
                "GET", template, target, 416, kind="range-not-satisfiable", Range=value)
            self.check.that(
                answer.headers.get("content-range") == f"bytes */{size}", f"{target}: 416 {value}")
        for value in ("bytes=", "bytes=1-0", "lines=0-0", "bytes=a-b", "0-0"):
            self.ask("GET", template, target, 200, Range=value)
        self.ask("HEAD", template, target, 200, Range="bytes=0-0")
        for value in ('"x"', "W/" + tag, "Sat, 01 Jan 2000 00:00:00 GMT"):
            self.ask("GET", template, target, 200, Range="bytes=0-0", If_Range=value)
        self.ask("GET", template, target, 304, If_Modified_Since=modified)
        self.ask("GET", template, target, 200, If_Modified_Since=modified, If_None_Match='"x"')
        self.ask("GET", template, target, 200, If_Unmodified_Since=modified)
        self.ask("GET", template, target, 412, kind="precondition-failed",
                 If_Unmodified_Since="Sat, 01 Jan 2000 00:00:00 GMT")

    # Writes.

    def write(self, method, template, target, expected, body=None, kind=None, parameter=None,
              field=None, type="application/json", **headers):
        """A write with the token. A JSON body is judged against its schema first."""
        if body is not None and not isinstance(body, str):
            operation = self.document.root["paths"][template][method.lower()]
            schema = operation["requestBody"]["content"][type]["schema"]
            errors = self.document.errors(schema, body)
            self.check.that(
                bool(errors) == (expected == 422), f"{method} {target} {body}: {expected}, {errors}")
            body = json.dumps(body)
        if body is not None:
            headers["Content_Type"] = type
        value, answer = self.ask(
            method, template, target, expected, parameter, kind,
            body.encode("utf-8", "surrogateescape") if body else None,
            Authorization="Bearer " + self.token, **headers)
        if field:
            self.check.that(value.get("field") == field, f"{method} {target}: {value}")
        return value, answer

    def check_writes(self):
        template, target = "/v1/items/{id}", "/v1/items/check%2Fone%20%C3%A9"
        counters = target + "/counters"
        writes = (("PUT", template, target, b'{"type":"text"}'), ("DELETE", template, target, None),
                  ("POST", template + "/counters", counters, b'{"likes":1}'),
                  ("POST", "/v1/import", "/v1/import", b"[]"), ("POST", "/v1/items", "/v1/items", b'{"type":"text"}'))
        for method, path, to, body in writes:
            for presented in ("", "Bearer x", "Bearer", "Basic " + self.token, self.token):
                fields = {"Authorization": presented} if presented else {}
                self.ask(method, path, to, 401, kind="unauthorized", body=body, **fields)
            self.write(method, path, to + "?unknown=1", 400, parameter="unknown",
                       body=body and body.decode(), kind="invalid-parameter")
            if body:
                for type in ("text/plain", "application/xml", "json", "application/json2"):
                    self.write(method, path, to, 415, body.decode(), "unsupported-media-type", type=type)
                # An import may be compressed, but not in every way.
                coding = "br" if path == "/v1/import" else "gzip"
                self.write(method, path, to, 415, body.decode(), "unsupported-media-type",
                           Content_Encoding=coding)
        self.check_item_writes(template, target)
        self.check_counters(template + "/counters", counters)
        self.check_patches(template, target)
        self.write("DELETE", template, target, 204)
        self.write("DELETE", template, target, 404, kind="unknown-item")
        made, answer = self.write("POST", "/v1/items", "/v1/items", 201, {"type": "text"})
        self.check.that(answer.headers["location"] == "/v1/items/" + made["id"], f"Location {answer.headers}")
        self.write("DELETE", template, answer.headers["location"], 204)
        self.write("POST", "/v1/items", "/v1/items", 422, '{"type":"text","id":"a"}', "invalid-record", field="id")
        self.write("POST", "/v1/items", "/v1/items", 413, '{"text":"' + "a" * 2_000_000 + '"}')
        self.check_methods("/v1/items", "/v1/items")
        self.check_uploads()

    def check_patches(self, template, target):
        patch = "application/merge-patch+json"
        self.ask("PATCH", template, target, 401, kind="unauthorized", body=b"{}", Content_Type=patch)
        self.write("PATCH", template, target, 204, {"title": "Patched", "counters": {"likes": None}}, type=patch)
        item, _ = self.ask("GET", template, target, 200)
        self.check.that(item["title"] == "Patched" and "likes" not in item.get("counters", {}), f"PATCH {target}: {item}")
        self.write("PATCH", template, "/v1/items/no-such-item", 404, {}, "unknown-item", type=patch)
        self.write("PATCH", template, target, 412, {}, "precondition-failed", type=patch, If_Match='"x"')
        self.write("PATCH", template, target, 415, "{}", "unsupported-media-type")
        self.write("PATCH", template, target, 422, '{"type":"x"}', "invalid-record", field="type", type=patch)
        self.write("PATCH", template, target, 422, "[]", "invalid-record", type=patch)
        self.write("PATCH", template, target, 413, '{"text":"' + "a" * 2_000_000 + '"}', type=patch)
        self.write("PATCH", template, target + "?unknown=1", 400, parameter="unknown", body="{}",
                   kind="invalid-parameter", type=patch)

    def check_uploads(self):
        template, target = "/media/{path}", "/media/new/gull.jpg"
        picture = (DOCUMENT.parents[3] / "Fixtures/media/herring-gull-portrait/0.jpg").read_bytes().decode("utf-8", "surrogateescape")
        self.ask("PUT", template, target, 401, kind="unauthorized", body=b"x")
        for expected in (201, 200):
            made, _ = self.write("PUT", template, target, expected, picture, type="image/jpeg")
            self.check.that(made["media"]["kind"] == "image", f"PUT {target}: {made}")
        self.write("PUT", template, target, 412, picture, "precondition-failed", type="image/jpeg", If_None_Match="*")
        self.write("PUT", template, "/media/new/gull.png", 415, picture, "unsupported-media-type", type="image/jpeg")
        self.write("PUT", template, "/media/new/gull.jpg/x.jpg", 409, picture, "media-conflict", type="image/jpeg")
        self.write("PUT", template, target, 422, picture[:400], "broken-media", type="image/jpeg")
        self.write("PUT", template, "/media/.gull.jpg", 400, picture, "invalid-media-path", type="image/jpeg")
        self.check_deleted_files(template, target)
        self.check_named_files(picture)
        self.check_changes()
        self.check_renditions()
        self.check_continued_uploads(picture.encode("utf-8", "surrogateescape"))
        self.check_import()
        self.check_feed_writes()
        self.check_places_in_words()
        self.check_item_list()

    def check_deleted_files(self, template, target):
        self.ask("DELETE", template, target, 401, kind="unauthorized")
        self.write("DELETE", template, target, 412, kind="precondition-failed", If_Match='"x"')
        self.write("DELETE", template, "/media/new", 409, kind="media-conflict")
        self.write("DELETE", template, "/media/.gull.jpg", 400, kind="invalid-media-path")
        self.write("DELETE", template, target, 204)
        self.write("DELETE", template, target, 404, kind="unknown-media")
        self.ask("GET", template, target, 404, kind="unknown-media")

    def check_named_files(self, picture):
        template = target = "/v1/media"
        self.ask("POST", template, target, 401, kind="unauthorized", body=b"x")
        self.ask("GET", template, target, 401, kind="unauthorized")
        for expected in (201, 200):
            made, answer = self.write("POST", template, target, expected, picture, type="image/jpeg")
        self.ask("GET", "/media/{path}", made["path"], 200)
        for query, parameter in (("?limit=0", "limit"), ("?limit=1001", "limit"), ("?after=x", "after"),
                                 ("?after=/media/", "after"), ("?before=x", "before")):
            self.write("GET", template, target + query, 400, kind="invalid-parameter", parameter=parameter)
        self.write("HEAD", template, target, 200)
        files, link = [], target + "?limit=2"
        while link:
            page, _ = self.write("GET", template, link, 200)
            self.check.that(len(page["files"]) == 2 or not page["paging"]["next"], f"GET {link}: {page}")
            files += page["files"]
            link = page["paging"]["links"].get("next")
        paths = [file["path"] for file in files]
        self.check.that(made["path"] in paths and len(set(paths)) == len(paths) >= 3, f"GET {target}: {paths}")
        self.write("POST", template, target, 415, "<svg/>", "unsupported-media-type", type="image/svg+xml")
        self.write("POST", template, target, 422, picture[:400], "broken-media", type="image/jpeg")
        self.write("POST", template, target + "?unknown=1", 400, picture, "invalid-parameter", "unknown", type="image/jpeg")
        self.check_methods(template, target)
        self.write("DELETE", "/media/{path}", made["path"], 204)

    def check_continued_uploads(self, picture):
        template, part = "/v1/uploads/{upload}", "application/partial-upload"
        authorization = "Bearer " + self.token
        begun = self.server.send("PUT", "/media/new/part.jpg", picture[:100], Upload_Complete="?0",
                                 Authorization=authorization)
        self.check.that(begun.status == 201 and begun.headers["upload-offset"] == "100", f"PUT in parts: {begun}")
        target = begun.headers["location"]

        def append(offset, complete, body, expected, kind=None, type=part):
            return self.ask("PATCH", template, target, expected, None, kind, body, Authorization=authorization,
                            Content_Type=type, Upload_Offset=str(offset), Upload_Complete=complete)

        self.ask("GET", template, target, 401, kind="unauthorized")
        self.write("GET", template, target, 204)
        self.write("HEAD", template, target, 204)
        self.write("GET", template, "/v1/uploads/none", 404, kind="unknown-upload")
        self.check_methods(template, target)
        append(99, "?0", picture[99:], 409)
        append(100, "?", picture[100:], 400, "invalid-parameter")
        append(100, "?0", picture[100:], 415, "unsupported-media-type", "image/jpeg")
        append(100, "?0", picture[100:200], 204)
        append(200, "?1", picture[200:], 201)
        append(len(picture), "?1", None, 410)
        append(len(picture), "?1", b"x", 400)
        self.write("DELETE", template, target, 204)
        self.write("DELETE", template, target, 404, kind="unknown-upload")
        self.write("DELETE", "/media/{path}", "/media/new/part.jpg", 204)

    def check_changes(self):
        """What changed, read from the newest place on."""
        template = "/v1/changes"
        self.ask("GET", template, template, 401, kind="unauthorized")
        for query, parameter, kind in (("limit=0", "limit", "invalid-parameter"), ("since=x", "since", "invalid-cursor"),
                                       ("records=x", "records", "invalid-parameter"), ("x=1", "x", "invalid-parameter")):
            self.write("GET", template, f"{template}?{query}", 400, kind=kind, parameter=parameter)
        self.write("GET", template, template, 200)
        self.write("HEAD", template, template, 200)
        self.write("GET", template, template + "?limit=2&records=true", 200)
        self.check_methods(template, template)
        template = "/v1/webhooks"
        self.ask("GET", template, template, 401, kind="unauthorized")
        self.write("GET", template, template, 200)
        self.write("HEAD", template, template, 200)
        self.check_methods(template, template)

    def check_renditions(self):
        """Smaller versions, which a server without ffmpeg does not make."""
        template = "/v1/renditions"
        self.ask("GET", template, template, 401, kind="unauthorized")
        self.ask("POST", template, template + "?path=/media/image.png", 401, kind="unauthorized")
        state, _ = self.write("GET", template, template, 200)
        self.write("HEAD", template, template, 200)
        for query in ("", "?path=", "?path=image.png"):
            self.write("POST", template, template + query, 400, kind="invalid-parameter", parameter="path")
        if state["canMake"]:
            self.write("POST", template, template + "?path=/media/nope.png", 404)
            self.write("POST", template, template + "?path=/media/image.png", 202)
        else:
            self.write("POST", template, template + "?path=/media/image.png", 501)
        self.check_methods(template, template)

    def check_item_list(self):
        template = "/v1/items"
        self.ask("GET", template, template, 401, kind="unauthorized")
        for query, parameter, kind in (
                ("limit=0", "limit", "invalid-parameter"), ("limit=101", "limit", "invalid-parameter"),
                ("type=x", "type", "invalid-parameter"), ("publishedFrom=x", "publishedFrom", "invalid-parameter"),
                ("publishedBefore=2026", "publishedBefore", "invalid-parameter"),
                ("x=1", "x", "invalid-parameter"), ("after=x", "after", "invalid-cursor"),
                ("feed=featured&after=x", "after", "invalid-cursor")):
            self.write("GET", template, f"{template}?{query}", 400, kind=kind, parameter=parameter)
        self.write("GET", template, template + "?feed=nope", 404, kind="unknown-feed")
        self.write("HEAD", template, template, 200)
        def walk(query):
            records, link = [], template + "?" + query
            while link:
                page, _ = self.write("GET", template, link, 200)
                records += [item["record"] for item in page["items"]]
                link = page["paging"]["links"].get("next")
            return records
        everything = walk("limit=100")
        ids = [record["id"] for record in everything]
        self.check.that(len(ids) == len(set(ids)) > 20, f"GET {template}: {ids}")
        for limit in (1, 7):
            self.check.that(walk(f"limit={limit}") == everything, f"GET {template}?limit={limit}")
        videos = [record for record in everything if record["type"] == "video"]
        self.check.that(videos and walk("type=video") == videos, "GET /v1/items?type=video")
        featured = {record["id"] for record in walk("feed=featured&limit=3")}
        expected = {record["id"] for record in everything
                    if any(place["name"] == "featured" for place in record.get("feeds", []))}
        self.check.that(featured == expected, f"GET /v1/items?feed=featured: {featured ^ expected}")
        page, _ = self.write("GET", template, template + "?limit=1", 200)
        item = page["items"][0]
        target = "/v1/items/" + urllib.parse.quote(item["record"]["id"], safe="")
        self.write("PATCH", "/v1/items/{id}", target, 412, {"title": "x"}, "precondition-failed",
                   type="application/merge-patch+json", If_Match='"x"')
        self.write("PUT", "/v1/items/{id}", target, 204, item["record"], If_Match=item["etag"])

    def check_places_in_words(self):
        template, feed = "/v1/items/{id}", "/v1/feeds/words/items"
        def put(name, place, expected=201, kind=None, field=None):
            record = {"type": "text", "text": name, "feeds": [{"name": "words", **place}]}
            self.write("PUT", template, f"/v1/items/{name}", expected, record, kind, field=field)
        put("w0", {"after": "w1"}, 409, "no-place")
        for name, place in (("w1", {"rank": "top"}), ("w2", {"rank": "bottom"}), ("w3", {"after": "w1"}),
                            ("w4", {"before": "w1"}), ("w5", {})):
            put(name, place)
        put("w0", {"after": "w5"}, 409, "no-place")
        for place in ({"rank": "middle"}, {"after": ""}, {"before": 1}, {"rank": "1"}):
            put("w0", place, 422, "invalid-record")
        put("w2", {"rank": "top"}, 204)
        page, _ = self.ask("GET", "/v1/feeds/{feed}/items", feed, 200)
        order = [item["id"] for item in page["items"]]
        self.check.that(order == ["w2", "w4", "w1", "w3", "w5"], f"places in words: {order}")
        for name in order:
            self.write("DELETE", template, f"/v1/items/{name}", 204)
        self.write("DELETE", "/v1/feeds/{feed}", "/v1/feeds/words", 204)

    def check_feed_writes(self):
        template, target, other = "/v1/feeds/{feed}", "/v1/feeds/made%20%C3%A9", "/v1/feeds/renamed"
        record = {"feed": {"name": "made \u00e9", "title": "Made"}}
        for method, body in (("PUT", json.dumps(record).encode()), ("DELETE", None)):
            self.ask(method, template, target, 401, kind="unauthorized", body=body)
            self.write(method, template, target + "?unknown=1", 400, parameter="unknown",
                       body=body and body.decode(), kind="invalid-parameter")
        self.write("PUT", template, target, 415, json.dumps(record), "unsupported-media-type",
                   type="text/plain")
        self.write("PUT", template, target, 412, record, "precondition-failed", If_Match="*")
        _, answer = self.write("PUT", template, target, 201, record, If_None_Match="*")
        self.check.that(answer.headers["location"] == target, f"Location {answer.headers}")
        _, answer = self.ask("GET", template, target, 200)
        self.write("PUT", template, target, 412, record, "precondition-failed", If_None_Match="*")
        self.write("PUT", template, target, 204, {"feed": {"name": "made \u00e9", "title": "Anew"}},
                   If_Match=answer.headers["etag"])
        self.write("DELETE", template, target, 412, If_Match=answer.headers["etag"])
        for body in ({"feed": {"title": "x"}}, {"feed": {"name": ""}}, {"feed": 1}, {"type": "text"}):
            self.write("PUT", template, target, 422, body, "invalid-record")
        self.write("PUT", template, target, 204, {"feed": {"name": "renamed"}})
        self.ask("GET", template, target, 404, kind="unknown-feed")
        self.write("PUT", template, target, 201, record)
        self.write("PUT", template, target, 409, {"feed": {"name": "renamed"}}, "feed-exists")
        for path in (target, other):
            self.write("DELETE", template, path, 204)
            self.write("DELETE", template, path, 404, kind="unknown-feed")

    def check_item_writes(self, template, target):
        record = {
            "type": "video", "title": "Check", "publishedAt": "2026-05-01T08:10:00+02:00",
            "feeds": [{"name": "check", "rank": 1}, {"name": "check 2"}], "tags": ["a"],
            "counters": {"likes": 3}, "language": "pt-BR",
            "author": {"name": "A", "avatar": "/a.png", "extra": {"n": [1.5]}},
            "extra": {"z": {"y": [None, "x", 12345678901234567890]}, "a": -0.5},
            "media": [{"kind": "video", "url": "https://media.example/1.mp4", "width": 640,
                       "alt": "A clip", "poster": "/p.jpg", "placeholder": {"color": "#6b7a3d"},
                       "extra": {"focus": [0, 1]}},
                      {"kind": "audio", "url": "https://media.example/1.mp3"}],
        }
        self.write("PUT", template, target, 412, record, "precondition-failed", If_Match="*")
        _, answer = self.write("PUT", template, target, 201, record, If_None_Match="*",
                               Prefer="server-timing")
        self.check.that(answer.headers["location"] == target, f"Location {answer.headers}")
        item, answer = self.ask("GET", template, target, 200)
        self.check.that(item["feeds"] == record["feeds"], f"{target} is in {item['feeds']}")
        files = [{k: v for k, v in file.items() if k != "id"} for file in item["media"]]
        for name in ("author", "extra", "language"):
            self.check.that(item[name] == record[name], f"{target} has {name} {item[name]}")
        self.check.that(files == record["media"], f"{target} has files {files}")
        self.write("PUT", template, target, 412, record, "precondition-failed", If_None_Match="*")
        self.write("PUT", template, target, 204, record, If_Match=answer.headers["etag"])
        _, coded = self.ask(
            "GET", template, target + "?network=wifi", 200, Accept_Encoding="br, identity;q=0")
        self.write("PUT", template, target, 204, {"type": "text", "id": "check/one é"},
                   If_Match=coded.headers["etag"])
        self.write("PUT", template, target, 412, record, If_Match=answer.headers["etag"])
        self.write("DELETE", template, target, 412, If_Match=answer.headers["etag"])
        for change, field in (
            ({"type": "poem"}, "type"), ({"type": None}, "type"), ({"title": 1}, "title"),
            ({"unknown": 1}, "unknown"), ({"feeds": [{"rank": 1}]}, "feeds[0].name"),
            ({"feeds": [{"name": "a", "rank": -1}]}, "feeds[0].rank"), ({"tags": "a"}, "tags"),
            ({"counters": {"likes": 1.5}}, "counters.likes"), ({"id": ""}, "id"),
            ({"counters": {"": 1}}, "counters"), ({"author": {"id": ""}}, "author.id"),
            ({"extra": []}, "extra"),
            ({"author": {"extra": 1}}, "author.extra"), ({"language": "en_US"}, "language"),
            ({"media": [{"kind": "audio", "url": "/x", "placeholder": {}}]}, "media[0].placeholder"),
            ({"media": [{"kind": "audio", "url": "/x", "alt": "a" * 4097}]}, "media[0].alt"),
            ({"publishedAt": "yesterday"}, "publishedAt"), ({"title": "a" * 4097}, "title"),
            ({"media": [{"kind": "image", "url": "trip/1.jpg"}]}, "media[0].url"),
            ({"thumbnail": "//cdn.example/1.jpg"}, "thumbnail"),
            ({"media": [{"kind": "video"}]}, "media[0].url"), ({"title": "a\0"}, "title"),
            ({"media": [{"kind": "image", "url": "/x", "width": 0}]}, "media[0].width"),
            ({"tags": ["a"] * 101}, "tags"), ({"counters": {str(n): n for n in range(51)}}, "counters"),
            ({"author": {"id": "a\nb"}}, "author.id"),
        ):
            self.write("PUT", template, target, 422, record | change, "invalid-record", field=field)
        # What a schema cannot say.
        for body, field in (('{"type":"text","extra":{"a":"' + "x" * 65536 + '"}}', "extra"),
                            ('{"type":"text","id":"another"}', "id"), ("", None), ("[", None),
                            ('{"type":"text","publishedAt":"2026-02-30T00:00:00Z"}', "publishedAt"),
                            ('{"type":"text","feeds":[{"name":"a"},{"name":"a"}]}', "feeds")):
            self.write("PUT", template, target, 422, body, "invalid-record", field=field)
        self.write("PUT", template, "/v1/items/" + "a" * 201, 422, '{"type":"text"}', field="id")
        self.write("PUT", template, target, 413, '{"text":"' + "a" * 2_000_000 + '"}')
        self.ask("GET", template, target, 200)

    def check_counters(self, template, target):
        value, _ = self.write("POST", template, target, 200, {"likes": 2, "loves": -1})
        self.check.that(value["counters"] == {"likes": 2, "loves": -1}, f"counters {value}")
        for replayed in (None, "true", "true"):
            value, answer = self.write(
                "POST", template, target, 200, {"likes": 1}, Idempotency_Key='"check-1"')
            self.check.that(
                value["counters"]["likes"] == 3
                and answer.headers.get("idempotent-replayed") == replayed, f"counters {value}")
        self.write("POST", template, target, 422, '{"likes":2}', "idempotency-key-reused",
                   "Idempotency-Key", Idempotency_Key="check-1")
        pattern = self.document.parameters(template, "post", "header")["Idempotency-Key"]["schema"]
        for key in ('""', "a b", "a\\", "a" * 256, '"'):
            self.check.that(self.document.errors(pattern, key), f"the key {key} is well formed")
            self.write("POST", template, target, 400, '{"likes":2}', "invalid-parameter",
                       "Idempotency-Key", Idempotency_Key=key)
        for body in ({}, {"likes": 1.5}, {"likes": "1"}, {"likes": 2**53}, [], {"": 1},
                     {"a" * 65: 1}):
            self.write("POST", template, target, 422, body, "invalid-record")
        for body, field in ({"likes": 2**53 - 1}, "likes"), ({f"c{n}": 1 for n in range(50)}, None):
            self.write("POST", template, target, 422, json.dumps(body), "counter-limit", field=field)
        self.write("POST", template, "/v1/items/no-such-item/counters", 404, {"likes": 1},
                   "unknown-item")
        self.write("POST", template, target, 412, {"likes": 1}, "precondition-failed", If_Match='"x"')
        self.check_methods(template, target)

    def check_import(self):
        path = "/v1/import"
        records = [{"id": f"import {n}", "type": "text", "text": "x", "feeds": [{"name": "imported"}]}
                   for n in range(250)] + [{"feed": {"name": "imported", "title": "Imported"}}]
        # A feed's record counts as one, too, where it changes something.
        report, _ = self.write("POST", path, path, 200, records)
        self.check.that(report["refused"] == 0 and report["added"] >= 250, f"import {report}")
        for type in ("application/x-ndjson", "application/ndjson", "application/jsonl; charset=utf-8"):
            lines = "\n".join(json.dumps(record) for record in records)
            report, _ = self.write("POST", path, path, 200, lines, type=type, Prefer="server-timing")
            self.check.that(
                report["added"] == report["changed"] == 0 and report["unchanged"] >= 250,
                f"import {report}")
        report, _ = self.write("POST", path, path, 200, "{}\n" * 120)
        self.check.that(
            report["refused"] == 120 and len(report["refusals"]) == 100
            and report["refusals"][99]["line"] == 100, f"import {report}")
        for odd in ("", "[", "null", "[1, 2", "\xff", '"', "{}{}"):
            self.write("POST", path, path, 200, odd)
        page, _ = self.ask("GET", "/rp/", "/rp/?feed=imported", 200)
        self.check.that(page["feed"]["total"] == 250, f"imported {page['feed']}")
        self.check_methods(path, path)

    def check_events(self):
        template, target = "/v1/feeds/{feed}/events", "/v1/feeds/featured/events"
        page, _ = self.ask("GET", "/rp/", "/rp/?feed=featured", 200)
        newer = page["paging"]["newer"]
        for query, headers in (
            ("", {}), (f"?before={newer}", {}), ("", {"Last_Event_ID": newer}),
            ("", {"Last_Event_ID": "nonsense"}), ("", {"Prefer": "server-timing"}),
        ):
            answer = self.server.begin(target + query, b"\n\n", **headers)
            self.judge(answer, template, "get", f"GET {target}{query} {headers}", 200)
            self.check.that(f"id: {newer}\n".encode() in answer.body, f"{target}: where the feed is")
        self.ask("HEAD", template, target, 200)
        self.ask("OPTIONS", template, target, 204)
        self.ask("GET", template, "/v1/feeds/nope/events", 404, kind="unknown-feed")
        self.ask("GET", template, target + "?before=x", 400, parameter="before", kind="invalid-cursor")
        self.ask("GET", template, target + "?after=x", 400, parameter="after", kind="invalid-parameter")

    def check_plan(self, item):
        """The engine over HTTP: whoever may read may ask."""
        path = "/v1/plan"

        def plan(body, expected, kind=None, type="application/json", to=path):
            body = body if isinstance(body, str) else json.dumps(body)
            return self.ask("POST", path, to, expected, kind=kind, body=body.encode(),
                            Content_Type=type)[0]

        states = ({"items": []}, {"items": [item]}, {"items": [item], "active": item, "hasNext": True},
                  {"items": [item], "network": {"downlink": 780, "rtt": 200}, "saveData": True},
                  {"items": [item], "strategy": {"name": "plain", "parameters": {"leading": 3}}},
                  {"items": [item], "held": [{"key": item + ".0", "ranges": [[0, 999]]}]})
        for state in states:
            value = plan(state, 200)
            self.check.that(value and isinstance(value["actions"], list), f"plan of {state}: {value}")
        for body in ("", "[", "[]", "{} {}", {"later": 1}, {"items": [1]}, {"items": item},
                     {"items": [item], "strategy": {"name": "best"}}, {"items": ["x"] * 201}):
            plan(body, 422, "invalid-record")
        plan({"items": ["no such item"]}, 404, "unknown-item")
        plan({"items": [item], "feed": "no such feed"}, 404, "unknown-feed")
        plan({"items": []}, 415, "unsupported-media-type", type="text/plain")
        plan({"items": []}, 400, "invalid-parameter", to=path + "?unknown=1")
        self.check_methods(path, path)

    def check_experiments(self):
        """Experiments on policies: begun, on pages, ended, refused."""
        path, one = "/v1/experiments", "/v1/experiments/{experiment}"
        for method, template, to, body in (("POST", path, path, b'{"against":"plain-5"}'), ("POST", one, path + "/1", None),
                                           ("DELETE", one, path + "/1", None)):
            self.ask(method, template, to, 401, kind="unauthorized", body=body)
            self.write(method, template, to + "?unknown=1", 400, parameter="unknown", body=body and body.decode(),
                       kind="invalid-parameter")
        self.write("POST", path, path, 415, '{"against":"plain-5"}', "unsupported-media-type", type="text/plain")
        for body in ({}, {"against": ""}, {"against": "plain-5", "share": 51}, {"against": "plain-5", "later": 1}):
            self.write("POST", path, path, 422, body, "invalid-record")
        self.write("POST", path, path, 422, '{"against":"best"}', "invalid-record")
        self.write("POST", path, path, 404, {"against": "plain-5", "network": "5g"}, "unknown-network")
        self.write("POST", path, path, 404, {"against": "plain-5", "feed": "no such feed"}, "unknown-feed")
        trial = {"against": "weighted-5", "feed": "featured", "network": None, "share": 10, "margin": 5, "days": 7}
        self.write("POST", path, path, 201, trial)
        self.write("POST", path, path, 409, trial, "experiment-conflict")
        listed, _ = self.ask("GET", path, path, 200)
        number = listed["experiments"][0]["id"]
        for arm in ("", "&arm=a", "&arm=b", "&arm=z"):
            page, _ = self.ask("GET", "/rp/", "/rp/?feed=featured&limit=1" + arm, 200)
            self.check.that(page["prefetch"]["experiment"]["id"] == number, f"the page names the experiment: {page['prefetch']}")
        self.ask("GET", "/v1/networks", "/v1/networks?feed=featured", 200)
        self.write("POST", one, f"{path}/{number}", 409, kind="experiment-conflict")
        self.write("POST", one, path + "/999999", 404, kind="unknown-experiment")
        self.write("DELETE", one, f"{path}/{number}", 204)
        self.write("DELETE", one, f"{path}/{number}", 409, kind="experiment-conflict")
        self.write("DELETE", one, path + "/999999", 404, kind="unknown-experiment")
        self.ask("GET", path, path, 200)
        self.ask("HEAD", path, path, 200)
        self.check_methods(path, path)
        self.ask("OPTIONS", one, path + "/1", 204)

    def check_reports(self):
        """What clients report, in each form, and what is no report."""
        path = "/v1/reports"

        def report(body, expected, kind=None, type="application/json", to=path):
            body = body if isinstance(body, str) else json.dumps(body)
            return self.ask("POST", path, to, expected, kind=kind, body=body.encode(), Content_Type=type)

        part = {"session": "a-session-of-the-checks", "part": 0, "items": 1}
        for body, type in ((part, "application/json"), (part, "text/plain"), ('e=ps,sid="a",ts=1,v=2', "application/cmcd"),
                           ('e=ps,sid="a",ts=1,v=2', "text/plain;charset=UTF-8")):
            report(body, 202, type=type)
        report({**part, "part": 1}, 202, to=path + "?feed=featured&policy=p&arm=b")
        for body in ("", "[", {}, {**part, "items": -1}, {**part, "later": 1}, {**part, "waitMs": [[200, 1]]}):
            report(body, 422, "invalid-record")
        report('sid="a"', 422, "invalid-record", "application/cmcd")
        report({**part, "feed": "no such feed"}, 404, "unknown-feed")
        report(part, 415, "unsupported-media-type", "application/xml")
        report(part, 400, "invalid-parameter", to=path + "?unknown=1")
        report({**part, "client": "x" * 70_000}, 413, "limit-exceeded")
        self.check_methods(path, path)
        self.ask("GET", "/v1/live", "/v1/live?feed=featured&hours=2", 200)
        self.ask("GET", "/v1/live", "/v1/live?hours=721", 400, "hours", "invalid-parameter")

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
        self.check_feed_list(feeds["total"])
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
            ("/v1/feeds/{feed}/feed.json", f"/v1/feeds/{name}/feed.json", "?limit=3"),
            ("/v1/feeds/{feed}/feed.xml", f"/v1/feeds/{name}/feed.xml", "?limit=3"),
            ("/v1/items/{id}", item, "?network=wifi"),
            ("/v1/items/{id}/record", item + "/record", ""),
            ("/v1/networks", "/v1/networks", f"?feed={name}"),
            ("/v1/live", "/v1/live", ""),
            ("/", "/", ""),
            ("/page/{file}", "/page/page.css", ""),
            ("/page/{file}", "/page/lab-report.html", ""),
            ("/lookahead.js", "/lookahead.js", ""),
            ("/openapi.json", "/openapi.json", ""),
            ("/healthz", "/healthz", ""),
            ("/readyz", "/readyz", ""),
            ("/metrics", "/metrics", ""),
        ):
            self.check_route(template, target, query)
            self.check_query(template, target + (query if template == "/rp/" else ""), companions)

        html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        self.ask("GET", "/", "/", 200, Accept=html)
        self.ask("HEAD", "/", "/", 200, Accept=html)
        for template, target, kind in (
            ("/page/{file}", "/page/no-such-file", "unknown-route"),
            ("/rp/", "/rp/?feed=no-such-feed", "unknown-feed"),
            ("/v1/feeds/{feed}/items", "/v1/feeds/no-such-feed/items", "unknown-feed"),
            ("/v1/feeds/{feed}", "/v1/feeds/no%20such%2Ffeed", "unknown-feed"),
            ("/v1/feeds/{feed}/feed.json", "/v1/feeds/no-such-feed/feed.json", "unknown-feed"),
            ("/v1/feeds/{feed}/feed.xml", "/v1/feeds/no-such-feed/feed.xml", "unknown-feed"),
            ("/v1/items/{id}", "/v1/items/no-such-item", "unknown-item"),
            ("/v1/items/{id}/record", "/v1/items/no-such-item/record", "unknown-item"),
            ("/v1/networks", "/v1/networks?feed=no-such-feed", "unknown-feed"),
            ("/v1/live", "/v1/live?feed=no-such-feed", "unknown-feed"),
        ):
            self.ask("GET", template, target, 404, kind=kind)
            self.ask("HEAD", template, target, 404)
        for target in ("/v1/feeds/%zz", "/v1/feeds/%00", "/v1/feeds/%FF"):
            self.ask("GET", "/v1/feeds/{feed}", target, 400, kind="malformed-request")
        self.ask("GET", "/v1/feeds", "/no/such/route", 404, kind="unknown-route")
        self.check_refusals()
        self.check_media()
        page, _ = self.ask("GET", "/rp/", "/rp/?feed=featured&limit=1", 200)
        self.check_plan(page["items"][0]["id"])
        self.check_reports()
        self.check_experiments()
        self.check_events()
        self.check_writes()

        described = {
            (template, method) for template, item in self.document.root["paths"].items()
            for method in item if method != "parameters"
        }
        asked = {(template, method) for template, method, _ in self.seen}
        self.check.that(described == asked, f"never asked: {described - asked}")


def main():
    token = os.environ.get("LOOKAHEAD_WRITE_TOKEN")
    if len(sys.argv) != 3 or not token:
        print(__doc__, file=sys.stderr)
        return 2
    suite = Suite(sys.argv[1], token, pathlib.Path(sys.argv[2]))
    try:
        suite.run()
    except (OSError, http.client.HTTPException) as error:
        suite.check.that(False, f"the server does not answer: {error!r}")
    print(f"{suite.check.passed} passed, {suite.check.failed} failed")
    return 1 if suite.check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
