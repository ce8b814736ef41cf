#!/usr/bin/env python3
"""Server CPU per API operation: Mailroom beside a real kube-apiserver, same client, same run.

Usage: bench_api.py NAME=KUBECONFIG=PID[,PID...] ...   (run by hack/bench api)

Sends each operation a fixed number of times over the keep-alive TLS connections of a few clients
and reads the servers' CPU time from /proc, so that a busy machine disturbs the figures little.
Prints one table; asserts nothing.

MAILROOM_BENCH_COUNT    operations of a kind (default 1000)
MAILROOM_BENCH_LISTED   objects in the list (default 3000)
MAILROOM_BENCH_CLIENTS  clients at a time (default 4)
"""
import base64
import http.client
import json
import os
import re
import socket
import ssl
import sys
import tempfile
import threading
import time

COUNT = int(os.environ.get("MAILROOM_BENCH_COUNT", "1000"))
LISTED = int(os.environ.get("MAILROOM_BENCH_LISTED", "3000"))
CLIENTS = int(os.environ.get("MAILROOM_BENCH_CLIENTS", "4"))
WATCHERS = 20


def config_map(name, value="x"):
    labels = {"tier": str(sum(name.encode()) % 10)}
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "data": {"value": value, "fill": "f" * 900}}


class Server:
    def __init__(self, name, kubeconfig, pids):
        self.name, self.pids = name, pids
        text = open(kubeconfig).read()
        url = re.search(r"server: \"?(https://[^\s\"]+)", text).group(1)
        _, _, self.host, *path = url.split("/")
        self.base = "/" + "/".join(path) if path else ""
        self.base = re.sub(r"/clusters/root$", "/clusters/wds1", self.base)
        self.context = ssl.create_default_context(cadata=self.pem(text, "certificate-authority", kubeconfig))
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(self.pem(text, "client-certificate", kubeconfig))
            pair.write(self.pem(text, "client-key", kubeconfig))
            pair.flush()
            self.context.load_cert_chain(pair.name)
        self.local = threading.local()

    @staticmethod
    def pem(text, field, kubeconfig):
        data = re.search(field + r"-data: \"?([A-Za-z0-9+/=]+)", text)
        if data:
            return base64.b64decode(data.group(1)).decode()
        path = re.search(field + r": \"?([^\s\"]+)", text).group(1)
        return open(os.path.join(os.path.dirname(kubeconfig), path)).read()

    def connect(self):
        return http.client.HTTPSConnection(self.host, context=self.context, timeout=60)

    def call(self, method, path, body=None, content_type="application/json"):
        headers = {"User-Agent": "bench/1", "Accept": "application/json"}
        data = None
        if body is not None:
            data = json.dumps(body)
            headers["Content-Type"] = content_type
        if not hasattr(self.local, "connection"):
            self.local.connection = self.connect()
        self.local.connection.request(method, self.base + path, data, headers)
        response = self.local.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{self.name}: {method} {path}: {response.status} {text[:200]}")
        return text

    def cpu(self):
        """Seconds, by the clocks of the processes, which count no whole ticks."""
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.pids)

    def resident(self):
        total = 0
        for pid in self.pids:
            for line in open(f"/proc/{pid}/status"):
                if line.startswith("VmRSS"):
                    total += int(line.split()[1])
        return total / 1024

    def measure(self, operation, count):
        """Microseconds of server CPU per call."""
        failures = []

        def run(first):
            try:
                for i in range(first, count, CLIENTS):
                    operation(i)
            except Exception as failure:  # told after the others have ended
                failures.append(failure)

        before = self.cpu()
        clients = [threading.Thread(target=run, args=(k,)) for k in range(CLIENTS)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        if failures:
            raise failures[0]
        return (self.cpu() - before) / count * 1e6


class Watcher(threading.Thread):
    """Counts the events of one watch."""

    def __init__(self, server, path):
        super().__init__(daemon=True)
        self.seen = 0
        self.connection = server.connect()
        self.connection.request("GET", server.base + path, headers={"User-Agent": "bench/1"})
        self.response = self.connection.getresponse()
        self.start()

    def close(self):
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.join()

    def run(self):
        try:
            while self.response.readline():
                self.seen += 1
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass


def measure_watch(server, maps):
    revision = json.loads(server.call("GET", maps + "?limit=1"))["metadata"]["resourceVersion"]
    before = server.cpu()
    for i in range(200):
        server.call("PUT", maps + "/w", config_map("w", f"a{i}"))
    alone = (server.cpu() - before) / 200 * 1e6
    revision = json.loads(server.call("GET", maps + "?limit=1"))["metadata"]["resourceVersion"]
    watchers = [Watcher(server, f"{maps}?watch=1&resourceVersion={revision}") for _ in range(WATCHERS)]
    before = server.cpu()
    for i in range(200):
        server.call("PUT", maps + "/w", config_map("w", f"b{i}"))
    end = time.time() + 30
    while time.time() < end and any(w.seen < 200 for w in watchers):
        time.sleep(0.05)
    spent = (server.cpu() - before) * 1e6 - alone * 200
    delivered = sum(w.seen for w in watchers)
    for watcher in watchers:  # what comes next is not told to them
        watcher.close()
    return max(spent, 0) / max(delivered, 1)


def bench(server):
    maps = "/api/v1/namespaces/default/configmaps"
    rows = {"resident at rest, MiB": server.resident()}
    rows["create, us"] = server.measure(lambda i: server.call("POST", maps, config_map(f"c{i}")), COUNT)
    rows["get, us"] = server.measure(lambda i: server.call("GET", f"{maps}/c{i}"), COUNT)
    rows["update, us"] = server.measure(
        lambda i: server.call("PUT", f"{maps}/c{i}", config_map(f"c{i}", "y")), COUNT)
    rows["merge patch, us"] = server.measure(
        lambda i: server.call("PATCH", f"{maps}/c{i}", {"data": {"value": "z"}},
                              "application/merge-patch+json"), COUNT)
    rows["apply, us"] = server.measure(
        lambda i: server.call("PATCH", f"{maps}/c{i}?fieldManager=bench&force=true",
                              config_map(f"c{i}", "applied"), "application/apply-patch+yaml"), COUNT)
    for i in range(COUNT, LISTED):
        server.call("POST", maps, config_map(f"c{i}"))
    rows[f"list of {LISTED}, us"] = server.measure(lambda i: server.call("GET", maps), 20)
    rows["list by label, us"] = server.measure(
        lambda i: server.call("GET", maps + "?labelSelector=tier%3D3"), 40)
    server.call("POST", maps, config_map("w"))
    rows["watch event delivered, us"] = measure_watch(server, maps)
    rows["delete, us"] = server.measure(lambda i: server.call("DELETE", f"{maps}/c{i}"), COUNT)
    rows["resident at the end, MiB"] = server.resident()
    return rows


def main():
    servers = []
    for argument in sys.argv[1:]:
        name, kubeconfig, pids = argument.split("=")
        servers.append(Server(name, kubeconfig, [int(p) for p in pids.split(",")]))
    tables = [bench(server) for server in servers]
    print(f"{'':28}" + "".join(f"{server.name:>18}" for server in servers) +
          (f"{'ratio':>10}" if len(servers) == 2 else ""))
    for row in tables[0]:
        values = [table[row] for table in tables]
        ratio = f"{values[0] / values[1]:>10.3f}" if len(values) == 2 and values[1] else ""
        print(f"{row:28}" + "".join(f"{value:>18.1f}" for value in values) + ratio)


if __name__ == "__main__":
    main()
