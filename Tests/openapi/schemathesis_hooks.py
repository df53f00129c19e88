"""Teaches schemathesis to send NDJSON, parts of uploads, and CMCD, and what answers no schema can tell apart."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/ndjson", "application/jsonl")
def lines(context, value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    records = value if isinstance(value, list) else [value]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@schemathesis.serializer("application/partial-upload", "application/cmcd")
def bytes_of(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.hook
def filter_case(context, case):
    """A part of an upload is answered without a body, with the status of a whole one."""
    return (case.headers or {}).get("Upload-Complete") != "?0"
