"""Peers that take their time, by the hundred, while an ordinary client goes on being served.

    slow.py HOST PORT CA CERT KEY

Holds connections that never finish their handshake, that trickle the head or the body of a request a
byte at a time, or that ask for a long list and read nothing of it. Every request of the ordinary client
must succeed meanwhile, and every slow peer must be cut in the end. Slow readers that do get on are left
alone and must get the whole answer."""
import asyncio
import http.client
import json
import socket
import ssl
import sys
import time

HOST, PORT, CA, CERT, KEY = sys.argv[1:6]
PORT = int(PORT)
EACH = 80          # peers of each kind
PATIENCE = 150     # seconds until all of them must have been cut
MAPS = "/clusters/wds1/api/v1/namespaces/default/configmaps"


def context():
    made = ssl.create_default_context(cafile=CA)
    made.check_hostname = HOST.count(".") != 3
    made.load_cert_chain(CERT, KEY)
    return made


class Ordinary:
    """One client with one connection at a time."""

    def __init__(self):
        self.connection = None
        self.served = 0

    def ask(self, method, path, body=None):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(HOST, PORT, context=context(), timeout=60)
        self.connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            sys.exit("the ordinary client got %d for %s %s: %r" % (answer.status, method, path, text[:300]))
        self.served += 1
        return text

    def again(self):
        self.connection.close()
        self.connection = None


async def drained(reader):
    """Until the other side has closed."""
    try:
        while await reader.read(65536):
            pass
    except (ConnectionError, ssl.SSLError, OSError):
        pass


async def trickle(first, rest):
    reader, writer = await asyncio.open_connection(HOST, PORT, ssl=context())
    writer.write(first)
    end = asyncio.ensure_future(drained(reader))
    try:
        for byte in rest:
            await asyncio.wait({end}, timeout=1)
            if end.done():
                break
            writer.write(bytes([byte]))
            await writer.drain()
    except (ConnectionError, ssl.SSLError, OSError):
        pass
    await end
    writer.transport.abort()


async def half_handshake(first):
    reader, writer = await asyncio.open_connection(HOST, PORT)
    writer.write(first)
    await drained(reader)
    writer.transport.abort()


def small_socket():
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect((HOST, PORT))
    made.setblocking(False)
    return made


async def asked_for_list():
    reader, writer = await asyncio.open_connection(
        sock=small_socket(), ssl=context(), server_hostname=HOST, limit=1024)
    writer.write(("GET %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n\r\n" % (MAPS, HOST)).encode())
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def stuck_reader(cut_by):
    """Reads nothing more; that it was cut shows in what is left to read being short."""
    reader, writer = await asked_for_list()
    await cut_by.wait()
    size, whole = 0, False
    try:
        while piece := await asyncio.wait_for(reader.read(65536), 30):
            size += len(piece)
            whole = piece.endswith(b"0\r\n\r\n")
            if whole:
                break
    except (ConnectionError, ssl.SSLError, OSError, asyncio.IncompleteReadError):
        pass
    writer.transport.abort()
    assert not whole, "a reader that took nothing for a minute got everything: %d bytes" % size


async def slow_reader():
    reader, writer = await asked_for_list()
    tail = b""
    while not tail.endswith(b"0\r\n\r\n"):
        piece = await reader.read(262144)
        assert piece, "a slow reader was cut"
        tail = (tail + piece)[-5:]
        await asyncio.sleep(0.05)
    writer.transport.abort()


async def main():
    ordinary = Ordinary()
    for n in range(40):
        ordinary.ask("POST", MAPS, json.dumps({"metadata": {"name": "big%d" % n}, "data": {"x": "x" * 400000}}))
    head = b"GET /version HTTP/1.1\r\nHost: h\r\nX-Slow: "
    post = ("POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
            "Content-Length: 100000\r\n\r\n" % MAPS).encode()
    endless = b"x" * 100000
    start = time.monotonic()
    read_on = asyncio.Event()
    cut = [asyncio.ensure_future(work) for _ in range(EACH) for work in (
        trickle(head, endless), trickle(post, endless), half_handshake(b""),
        half_handshake(b"\x16\x03\x01\x02\x00\x01\x00"))]
    stuck = [asyncio.ensure_future(stuck_reader(read_on)) for _ in range(EACH // 4)]
    slow = [asyncio.ensure_future(slow_reader()) for _ in range(4)]
    loop = asyncio.get_running_loop()

    def serve_on():
        name = "m%d" % ordinary.served
        ordinary.ask("GET", "/version")
        ordinary.ask("POST", MAPS.replace("wds1", "its1"), json.dumps({"metadata": {"name": name}}))
        ordinary.ask("GET", MAPS.replace("wds1", "its1") + "/" + name)
        ordinary.again()

    while not all(task.done() for task in cut) or time.monotonic() - start < 60:
        await loop.run_in_executor(None, serve_on)
        left = sum(not task.done() for task in cut)
        assert time.monotonic() - start < PATIENCE, "%d slow peers were never cut" % left
        await asyncio.sleep(0.1)
    read_on.set()
    await asyncio.gather(*cut, *stuck, *slow)
    assert ordinary.served > 100, ordinary.served
    print("%d slow peers were cut in %.0f s, %d ordinary requests served" % (
        len(cut) + len(stuck), time.monotonic() - start, ordinary.served))


asyncio.run(main())
