#!/usr/bin/python3
"""Sends more writes at once than the server's queue holds, over HTTP/2: what is past it must get
429 with Retry-After, everything else must be done, and another workspace must be served meanwhile
as if nothing were: one workspace fills half of the queue at most.

Usage: burst.py PORT CA_FILE CERT_FILE KEY_FILE
"""
import collections
import http.client
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../hack"))
import h2_post  # noqa: E402

PORT, FILES = int(sys.argv[1]), sys.argv[2:5]
CONNECTIONS = 24
BODY = json.dumps({"metadata": {"generateName": "burst-"}}).encode()


def elsewhere(stop, statuses):
    """Writes in another workspace, one after the other."""
    tls = h2_post.context(*FILES, "http/1.1")
    connection = http.client.HTTPSConnection("localhost", PORT, context=tls, timeout=120)
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
    statuses, stop = collections.Counter(), threading.Event()
    other = threading.Thread(target=elsewhere, args=(stop, statuses))
    other.start()
    counts = h2_post.post("localhost", PORT, h2_post.context(*FILES, "h2"),
                          "/clusters/its1/api/v1/namespaces/default/secrets",
                          [BODY] * (CONNECTIONS * h2_post.STREAMS), CONNECTIONS)
    stop.set()
    other.join()
    print(dict(counts), "elsewhere", dict(statuses))
    print("made", counts["201", False])
    assert counts["429", True] > 0, "nothing was refused"
    assert set(counts) == {("201", False), ("429", True)}, "other answers"
    assert counts["201", False] >= 1000, "too much was refused"
    assert set(statuses) == {201}, "the other workspace was held up"


main()
