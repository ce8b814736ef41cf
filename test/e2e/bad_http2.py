#!/usr/bin/python3
"""Speaks HTTP/2 badly, by python3-h2 and hyperframe: each case must end in the error the protocol
asks for, or in the end of that connection, and leave the server able to serve the next one.

Usage: bad_http2.py PORT CA_FILE
"""
import socket
import ssl
import struct
import sys

import h2.config
import h2.connection
import h2.errors
import hpack
from hyperframe import frame as frames

PORT, CA = int(sys.argv[1]), sys.argv[2]
HEAD = [(":method", "GET"), (":scheme", "https"), (":path", "/version"), (":authority", "localhost")]


class Client:
    """A connection with h2 for what is proper and raw frames for what is not."""

    def __init__(self):
        context = ssl.create_default_context(cafile=CA)
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("localhost", PORT), timeout=30)
        self.socket = context.wrap_socket(plain, server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        config = h2.config.H2Configuration(client_side=True, validate_outbound_headers=False,
                                           normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config=config)
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        self.send(self.h2.data_to_send())

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (ConnectionError, ssl.SSLError, BrokenPipeError):
            pass

    def frame(self, one):
        self.send(one.serialize())

    def headers(self, stream, fields, flags=("END_HEADERS", "END_STREAM")):
        block = hpack.Encoder().encode(fields, huffman=False)
        one = frames.HeadersFrame(stream, data=block)
        for flag in flags:
            one.flags.add(flag)
        self.frame(one)

    def frames(self):
        """All frames until the server ends the connection; settings and pings are answered."""
        decoder, data = hpack.Decoder(), b""
        while True:
            while len(data) >= 9:
                one, size = frames.Frame.parse_frame_header(memoryview(data[:9]))
                if len(data) < 9 + size:
                    break
                one.parse_body(memoryview(data[9:9 + size]))
                data = data[9 + size:]
                if isinstance(one, frames.SettingsFrame) and "ACK" not in one.flags:
                    ack = frames.SettingsFrame(0)
                    ack.flags.add("ACK")
                    self.frame(ack)
                if isinstance(one, frames.HeadersFrame):
                    one.fields = dict(decoder.decode(one.data))
                yield one
            try:
                more = self.socket.recv(65536)
            except TimeoutError:
                raise SystemExit("FAILED: the server says nothing")
            except (ConnectionError, ssl.SSLError):
                return
            if not more:
                return
            data += more

    def error(self):
        """The code of the first reset or GOAWAY; "end" when the connection just ends."""
        for one in self.frames():
            if isinstance(one, (frames.RstStreamFrame, frames.GoAwayFrame)):
                return h2.errors.ErrorCodes(one.error_code).name
        return "end"

    def status(self, stream):
        """The status of the answer on that stream, or the error in its place."""
        for one in self.frames():
            if isinstance(one, frames.HeadersFrame) and one.stream_id == stream:
                return one.fields[":status"]
            if isinstance(one, (frames.RstStreamFrame, frames.GoAwayFrame)):
                return h2.errors.ErrorCodes(one.error_code).name
        return "end"


CASES = []


def case(*wanted):
    def add(function):
        CASES.append((function, wanted))
        return function
    return add


@case("PROTOCOL_ERROR", "FRAME_SIZE_ERROR", "end")
def no_preface(client):
    raw = ssl.create_default_context(cafile=CA)
    raw.set_alpn_protocols(["h2"])
    client.socket = raw.wrap_socket(socket.create_connection(("localhost", PORT), timeout=30),
                                    server_hostname="localhost")
    client.h2 = h2.connection.H2Connection()
    client.h2.initiate_connection()
    client.h2.data_to_send()
    client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client.error()


@case("FRAME_SIZE_ERROR", "PROTOCOL_ERROR")
def frame_too_large(client):
    client.send(struct.pack("!I", 1 << 20)[1:] + b"\x00\x00" + struct.pack("!I", 1) + b"x" * (1 << 20))
    return client.error()


@case("PROTOCOL_ERROR")
def even_stream(client):
    client.headers(2, HEAD)
    return client.error()


@case("PROTOCOL_ERROR")
def headers_on_stream_zero(client):
    one = frames.HeadersFrame(1, data=hpack.Encoder().encode(HEAD))
    one.flags.add("END_HEADERS")
    one.flags.add("END_STREAM")
    data = bytearray(one.serialize())
    data[5:9] = b"\0\0\0\0"
    client.send(bytes(data))
    return client.error()


@case("PROTOCOL_ERROR", "STREAM_CLOSED")
def data_on_idle_stream(client):
    client.frame(frames.DataFrame(5, data=b"x"))
    return client.error()


@case("PROTOCOL_ERROR")
def continuation_alone(client):
    client.frame(frames.ContinuationFrame(1, data=b"x"))
    return client.error()


@case("PROTOCOL_ERROR")
def continuation_interrupted(client):
    one = frames.HeadersFrame(1, data=hpack.Encoder().encode(HEAD))
    client.frame(one)
    client.frame(frames.PingFrame(0, b"12345678"))
    return client.error()


@case("COMPRESSION_ERROR")
def bad_header_block(client):
    one = frames.HeadersFrame(1, data=b"\xff\xff\xff\xff\xff\xff\xff\xff\xff")
    one.flags.add("END_HEADERS")
    one.flags.add("END_STREAM")
    client.frame(one)
    return client.error()


@case("FLOW_CONTROL_ERROR")
def window_overflow(client):
    client.frame(frames.WindowUpdateFrame(0, window_increment=(1 << 31) - 1))
    client.frame(frames.WindowUpdateFrame(0, window_increment=(1 << 31) - 1))
    return client.error()


@case("PROTOCOL_ERROR")
def window_update_of_nothing(client):
    client.send(b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00")
    return client.error()


@case("FLOW_CONTROL_ERROR", "PROTOCOL_ERROR")
def bad_setting(client):
    client.frame(frames.SettingsFrame(0, settings={4: 1 << 31}))
    return client.error()


@case("PROTOCOL_ERROR")
def push_from_a_client(client):
    one = frames.PushPromiseFrame(1, promised_stream_id=2, data=hpack.Encoder().encode(HEAD))
    one.flags.add("END_HEADERS")
    client.headers(1, HEAD, ("END_HEADERS",))
    client.frame(one)
    return client.error()


@case("FRAME_SIZE_ERROR")
def short_ping(client):
    client.send(b"\x00\x00\x04\x06\x00\x00\x00\x00\x00abcd")
    return client.error()


@case("PROTOCOL_ERROR")
def capital_header_name(client):
    client.headers(1, HEAD + [("X-Capital", "a")])
    return client.error()


@case("PROTOCOL_ERROR")
def connection_header(client):
    client.headers(1, HEAD + [("connection", "keep-alive")])
    return client.error()


@case("PROTOCOL_ERROR")
def two_paths(client):
    client.headers(1, HEAD + [(":path", "/other")])
    return client.error()


@case("PROTOCOL_ERROR")
def no_path(client):
    client.headers(1, [field for field in HEAD if field[0] != ":path"])
    return client.error()


@case("PROTOCOL_ERROR")
def pseudo_after_regular(client):
    client.headers(1, [HEAD[0], ("a", "b")] + HEAD[1:])
    return client.error()


@case("PROTOCOL_ERROR", "400")
def transfer_encoding(client):
    client.headers(1, HEAD + [("transfer-encoding", "chunked")])
    return client.status(1)


@case("PROTOCOL_ERROR")
def length_that_lies(client):
    post = [(":method", "POST")] + HEAD[1:] + [("content-length", "10")]
    client.headers(1, post, ("END_HEADERS",))
    one = frames.DataFrame(1, data=b"abc")
    one.flags.add("END_STREAM")
    client.frame(one)
    return client.error()


@case("PROTOCOL_ERROR")
def two_lengths(client):
    client.headers(1, HEAD + [("content-length", "0"), ("content-length", "1")])
    return client.error()


@case("PROTOCOL_ERROR", "400")
def line_break_in_a_value(client):
    client.headers(1, HEAD + [("a", "b\r\nc: d")])
    return client.status(1)


@case("PROTOCOL_ERROR", "400")
def blank_in_the_path(client):
    client.headers(1, [(n, "/a b" if n == ":path" else v) for n, v in HEAD])
    return client.status(1)


@case("STREAM_CLOSED", "PROTOCOL_ERROR", "200", "401", "403")
def headers_after_the_end(client):
    client.headers(1, HEAD)
    client.headers(3, HEAD)
    client.headers(1, HEAD)
    client.headers(5, HEAD)
    return client.status(5)


@case("ENHANCE_YOUR_CALM", "INTERNAL_ERROR", "end")
def rapid_reset(client):
    for stream in range(1, 40001, 2):
        client.headers(stream, HEAD)
        client.frame(frames.RstStreamFrame(stream, error_code=8))
    return client.error()


@case("ENHANCE_YOUR_CALM", "end")
def settings_flood(client):
    client.send(frames.SettingsFrame(0, settings={3: 100}).serialize() * 20000)
    return client.error()


@case("ENHANCE_YOUR_CALM", "end")
def ping_flood(client):
    client.send(frames.PingFrame(0, b"12345678").serialize() * 20000)
    return client.error()


@case("ENHANCE_YOUR_CALM", "end", "PROTOCOL_ERROR", "INTERNAL_ERROR", "COMPRESSION_ERROR")
def continuation_flood(client):
    client.frame(frames.HeadersFrame(1, data=hpack.Encoder().encode(HEAD)))
    block = hpack.Encoder().encode([("x-%d" % i, "y" * 100) for i in range(100)])
    for _ in range(400):
        client.frame(frames.ContinuationFrame(1, data=block))
    return client.error()


@case("200", "401", "403")
def still_served(client):
    client.headers(1, HEAD)
    return client.status(1)


def main():
    failed = 0
    for function, wanted in CASES:
        got = function(Client())
        if got not in wanted:
            print("FAILED: %s: got %r, want one of %r" % (function.__name__, got, wanted))
            failed += 1
        # The next connection is served.
        after = Client()
        after.headers(1, HEAD)
        status = after.status(1)
        if status not in ("200", "401", "403"):
            print("FAILED: after %s: %r" % (function.__name__, status))
            failed += 1
    print("%d cases, %d failed" % (len(CASES), failed))
    sys.exit(1 if failed else 0)


main()
