#!/usr/bin/env python3
"""Writes ConfigMaps to a hub without pause, and remembers which were acknowledged.

Usage: load.py KUBECONFIG URL WORKSPACE PREFIX STOP ACKNOWLEDGED

Runs until the file STOP exists. Each acknowledged name goes into the file ACKNOWLEDGED; a write
whose answer was lost is not counted, whatever became of it. A hub that is away is tried again.
"""
import base64
import http.client
import json
import os
import re
import ssl
import sys
import tempfile
import time


def pem(text, field):
    return base64.b64decode(re.search(field + r"-data: \"?([A-Za-z0-9+/=]+)", text).group(1)).decode()


def main():
    kubeconfig, url, workspace, prefix, stop, acknowledged = sys.argv[1:]
    text = open(kubeconfig).read()
    context = ssl.create_default_context(cadata=pem(text, "certificate-authority"))
    with tempfile.NamedTemporaryFile("w") as pair:
        pair.write(pem(text, "client-certificate") + pem(text, "client-key"))
        pair.flush()
        context.load_cert_chain(pair.name)
    path = f"/clusters/{workspace}/api/v1/namespaces/default/configmaps"
    connection, number = None, 0
    with open(acknowledged, "w") as out:
        while not os.path.exists(stop):
            number += 1
            name = f"{prefix}-{number}"
            body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                               "data": {"fill": "x" * 500}})
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection(url.split("/")[2], context=context, timeout=10)
                connection.request("POST", path, body, {"Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
                if response.status == 201:
                    out.write(name + "\n")
            except (OSError, http.client.HTTPException):
                connection = None
                time.sleep(0.05)


if __name__ == "__main__":
    main()
