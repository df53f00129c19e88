"""HTTP/1.1 over asyncio, kept alive, with no more than the checks need: fast enough to race caches."""

import asyncio
import json

from fleet import TOKEN

AUTHORIZATION = f"Bearer {TOKEN}"


class Answer:
    def __init__(self, status, fields, body):
        self.status = status
        self.fields = fields
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """One connection, made when it is needed and made anew when it broke."""

    def __init__(self, port, address="127.0.0.1"):
        self.port = port
        self.address = address
        self.reader = self.writer = None

    async def ask(self, method, target, body=None, **fields):
        """One request; names of fields have `_` for `-`."""
        if body is not None:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            fields = {"Content_Type": "application/json", "Content_Length": str(len(body)), **fields}
        head = f"{method} {target} HTTP/1.1\r\nHost: front\r\n"
        head += "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        request = head.encode() + b"\r\n" + (body or b"")
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port, local_addr=(self.address, 0), limit=1 << 22)
        try:
            self.writer.write(request)
            answer = await self.receive(method)
        except BaseException:
            self.close()
            raise
        if answer.fields.get("connection") == "close":
            self.close()
        return answer

    async def get(self, target, **fields):
        return await self.ask("GET", target, **fields)

    async def write(self, method, target, body):
        return await self.ask(method, target, body, Authorization=AUTHORIZATION)

    async def receive(self, method):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ", 2)[1])
        fields = {}
        for line in head[1:]:
            if line:
                name, value = line.split(":", 1)
                fields[name.lower()] = value.strip()
        if method == "HEAD" or status in (204, 304):
            return Answer(status, fields, b"")
        if fields.get("transfer-encoding") == "chunked":
            body = b""
            while size := int((await self.reader.readline()).split(b";")[0], 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        elif "content-length" in fields:
            body = await self.reader.readexactly(int(fields["content-length"]))
        else:
            body = await self.reader.read()
            self.close()
        return Answer(status, fields, body)

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None
