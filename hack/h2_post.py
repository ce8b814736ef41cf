"""Many POSTs over few HTTP/2 connections, at next to no cost on the sending side: all frames are
made before the first is sent, and of the answers only the status is read.
"""
import collections
import socket
import ssl
import threading

import hpack
from hyperframe import frame as frames

STREAMS = 250  # that the server lets be open at a time


def context(ca, cert, key, *protocols):
    made = ssl.create_default_context(cafile=ca)
    made.load_cert_chain(cert, key)
    made.set_alpn_protocols(protocols)
    return made


class Poster:
    """One connection. Sends bodies in rounds of as many as may be open."""

    def __init__(self, host, port, tls, path, bodies):
        plain = socket.create_connection((host, port), timeout=120)
        self.socket = tls.wrap_socket(plain, server_hostname=host)
        self.counts = collections.Counter()  # of (status, whether Retry-After was there)
        self.rounds = [self.requests(path, bodies[at:at + STREAMS], at)
                       for at in range(0, len(bodies), STREAMS)]
        wide = frames.SettingsFrame(0, settings={frames.SettingsFrame.INITIAL_WINDOW_SIZE: 2**30})
        window = frames.WindowUpdateFrame(0, window_increment=2**30)
        self.first = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + wide.serialize() + window.serialize()
        self.decoder, self.data = hpack.Decoder(), b""

    @staticmethod
    def requests(path, bodies, first):
        # Nothing is indexed, so all blocks are alike.
        fields = [(":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
                  (":path", path), ("content-type", "application/json"), ("user-agent", "bench/1")]
        block = hpack.Encoder().encode([hpack.NeverIndexedHeaderTuple(*field) for field in fields])
        out = []
        for i, body in enumerate(bodies):
            head = frames.HeadersFrame(2 * (first + i) + 1, data=block)
            head.flags.add("END_HEADERS")
            data = frames.DataFrame(2 * (first + i) + 1, data=body)
            data.flags.add("END_STREAM")
            out.append(head.serialize() + data.serialize())
        return len(bodies), b"".join(out)

    def answers(self, waiting):
        while waiting > 0:
            more = self.socket.recv(262144)
            assert more, "the connection ended before its answers"
            self.data += more
            at = 0
            while len(self.data) - at >= 9:
                size = int.from_bytes(self.data[at:at + 3], "big")
                if len(self.data) - at < 9 + size:
                    break
                kind, flags = self.data[at + 3], self.data[at + 4]
                if kind in (frames.RstStreamFrame.type, frames.GoAwayFrame.type):
                    raise AssertionError("refused by frame %d" % kind)
                if kind == frames.HeadersFrame.type:
                    fields = dict(self.decoder.decode(self.data[at + 9:at + 9 + size]))
                    self.counts[fields[":status"], "retry-after" in fields] += 1
                if kind in (frames.HeadersFrame.type, frames.DataFrame.type) and flags & 1:
                    waiting -= 1
                at += 9 + size
            self.data = self.data[at:]

    def run(self):
        for count, burst in self.rounds:
            self.socket.sendall(self.first + burst)
            self.first = b""
            self.answers(count)


def post(host, port, tls, path, bodies, connections):
    """Sends the bodies; returns how often each answer came."""
    posters = [Poster(host, port, tls, path, bodies[k::connections]) for k in range(connections)]
    threads = [threading.Thread(target=poster.run) for poster in posters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum((poster.counts for poster in posters), collections.Counter())
