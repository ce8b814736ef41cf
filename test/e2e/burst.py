#!/usr/bin/python3
"""Sends more writes at once than the server's queue holds, over HTTP/2: what is past it must get
429 with Retry-After, everything else must be done, and another workspace must be served meanwhile
as if nothing were: one workspace fills half of the queue at most.

Usage: burst.py PORT CA_FILE CERT_FILE KEY_FILE
"""
import collections
import http.client
import json
import socket
import ssl
import sys
import threading

import hpack
from hyperframe import frame as frames

PORT, CA, CERT, KEY = int(sys.argv[1]), *sys.argv[2:5]
CONNECTIONS, STREAMS = 24, 250
BODY = json.dumps({"metadata": {"generateName": "burst-"}}).encode()


def context(*protocols):
    made = ssl.create_default_context(cafile=CA)
    made.load_cert_chain(CERT, KEY)
    made.set_alpn_protocols(protocols)
    return made


def connect():
    plain = socket.create_connection(("localhost", PORT), timeout=120)
    return context("h2").wrap_socket(plain, server_hostname="localhost")


def requests():
    """All requests of one connection, as bytes. Nothing is indexed, so blocks are alike."""
    fields = [(":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
              (":path", "/clusters/its1/api/v1/namespaces/default/secrets"),
              ("content-type", "application/json")]
    block = hpack.Encoder().encode([hpack.NeverIndexedHeaderTuple(*field) for field in fields])
    out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frames.SettingsFrame(0).serialize()
    for stream in range(1, 2 * STREAMS, 2):
        head = frames.HeadersFrame(stream, data=block)
        head.flags.add("END_HEADERS")
        data = frames.DataFrame(stream, data=BODY)
        data.flags.add("END_STREAM")
        out += head.serialize() + data.serialize()
    return out


def answers(one, counts):
    """Reads until every stream has its answer."""
    decoder, data, waiting = hpack.Decoder(), b"", STREAMS
    while waiting > 0:
        more = one.recv(65536)
        assert more, "the connection ended before its answers"
        data += more
        while len(data) >= 9:
            frame, size = frames.Frame.parse_frame_header(memoryview(data[:9]))
            if len(data) < 9 + size:
                break
            frame.parse_body(memoryview(data[9:9 + size]))
            data = data[9 + size:]
            if isinstance(frame, (frames.RstStreamFrame, frames.GoAwayFrame)):
                raise AssertionError("refused by %r" % frame)
            if isinstance(frame, frames.HeadersFrame):
                fields = dict(decoder.decode(frame.data))
                counts[fields[":status"], "retry-after" in fields] += 1
                waiting -= 1


def elsewhere(stop, statuses):
    """Writes in another workspace, one after the other."""
    connection = http.client.HTTPSConnection("localhost", PORT, context=context("http/1.1"), timeout=120)
    while True:
        connection.request("POST", "/clusters/wds1/api/v1/namespaces/default/configmaps",
                           json.dumps({"metadata": {"generateName": "meanwhile-"}}),
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        statuses[answer.status] += 1
        if stop.is_set():
            return


def main():
    sockets = [connect() for _ in range(CONNECTIONS)]
    counts, statuses, stop = collections.Counter(), collections.Counter(), threading.Event()
    other = threading.Thread(target=elsewhere, args=(stop, statuses))
    other.start()
    burst = requests()
    for one in sockets:
        one.sendall(burst)
    for one in sockets:
        answers(one, counts)
    stop.set()
    other.join()
    print(dict(counts), "elsewhere", dict(statuses))
    print("made", counts["201", False])
    assert counts["429", True] > 0, "nothing was refused"
    assert set(counts) == {("201", False), ("429", True)}, "other answers"
    assert counts["201", False] >= 1000, "too much was refused"
    assert set(statuses) == {201}, "the other workspace was held up"


main()
