#!/usr/bin/env python3
"""Server CPU per API operation: Mailroom beside a real kube-apiserver, same client, same run.

Usage: bench_api.py API_LOAD NAME=KUBECONFIG=PID[,PID...] ...   (run by hack/bench api)

Has api_load send each operation a fixed number of times over the keep-alive TLS connections of
several clients, each with one request under way, and reads the clocks of the servers' processes, so
that a busy machine disturbs the figures little. Prints one table; asserts nothing.

MAILROOM_BENCH_COUNT    operations of a kind (default 3000)
MAILROOM_BENCH_LISTED   objects in the list (default 3000)
MAILROOM_BENCH_CLIENTS  clients at a time (default 32; with 1, what it costs to be woken for each
                        request is part of the figures)
"""
import base64
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time

COUNT = int(os.environ.get("MAILROOM_BENCH_COUNT", "3000"))
LISTED = int(os.environ.get("MAILROOM_BENCH_LISTED", "3000"))
CLIENTS = int(os.environ.get("MAILROOM_BENCH_CLIENTS", "32"))
WATCHERS = 100


def config_map(name, value="x"):
    labels = {"tier": str(sum(name.encode()) % 10)}
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "data": {"value": value, "fill": "f" * 900}}


class Server:
    def __init__(self, name, kubeconfig, pids):
        self.name, self.pids = name, pids
        self.kubeconfig, self.text = kubeconfig, open(kubeconfig).read()
        text = self.text
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


class Load:
    """The clients of one server, and what their requests cost it."""

    def __init__(self, program, server, folder):
        self.server, self.file = server, folder + "/requests"
        files = []
        for field in ("certificate-authority", "client-certificate", "client-key"):
            files.append(f"{folder}/{field}")
            with open(files[-1], "w") as out:
                out.write(server.pem(server.text, field, server.kubeconfig))
        self.process = subprocess.Popen([program, *server.host.split(":"), *files, str(CLIENTS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, line):
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().split()
        if not answer:
            raise RuntimeError(f"{self.server.name}: the load ended at {line}")
        return int(answer[1])

    def request(self, method, path, body=None, content_type="application/json"):
        data = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} {self.server.base}{path} HTTP/1.1", f"Host: {self.server.host}",
                "User-Agent: bench/1", "Accept: application/json"]
        if data:
            head += [f"Content-Type: {content_type}", f"Content-Length: {len(data)}"]
        return ("\r\n".join(head) + "\r\n\r\n").encode() + data

    def write(self, requests):
        with open(self.file, "wb") as out:
            for request in requests:
                out.write(b"%d\n%s" % (len(request), request))

    def run(self, requests):
        """Microseconds of server CPU for each."""
        self.write(requests)
        before = self.server.cpu()
        count = self.tell("run " + self.file)
        return (self.server.cpu() - before) / count * 1e6

    def watch(self, requests):
        self.write(requests)
        self.tell("watch " + self.file)


def measure_watch(load, maps):
    """What the delivery of an event costs, beyond the update that makes it; in turns, because that is
    the small difference of two large figures."""
    server, updates, rounds = load.server, 1000, 4

    def change(mark):
        """Microseconds of server CPU."""
        return updates * load.run([
            load.request("PUT", f"{maps}/c{i % 500}", config_map(f"c{i % 500}", f"{mark}{i}"))
            for i in range(updates)])

    alone = watched = delivered = 0
    for turn in range(rounds):
        alone += change(f"a{turn}-")
        revision = json.loads(server.call("GET", maps + "?limit=1"))["metadata"]["resourceVersion"]
        load.watch([load.request("GET", f"{maps}?watch=1&resourceVersion={revision}")] * WATCHERS)
        watched += change(f"b{turn}-")
        before, end = server.cpu(), time.time() + 60
        while load.tell("events") < updates * WATCHERS and time.time() < end:
            pass
        watched += (server.cpu() - before) * 1e6
        delivered += load.tell("events")
        load.tell("close")  # what comes next is not told to them
    return max(watched - alone, 0) / max(delivered, 1)


def warm_up(load, maps):
    """What only the first requests cost is not counted."""
    names = [f"warm{i}" for i in range(500)]
    load.run([load.request("POST", maps, config_map(name)) for name in names])
    load.run([load.request("GET", f"{maps}/{name}") for name in names])
    for kind, query in (("merge-patch+json", ""), ("apply-patch+yaml", "?fieldManager=bench&force=true")):
        load.run([load.request("PATCH", f"{maps}/{name}{query}", config_map(name, kind),
                               "application/" + kind) for name in names])
    load.run([load.request("PUT", f"{maps}/{name}", config_map(name, "y")) for name in names])
    load.run([load.request("GET", maps)] * 5)
    load.run([load.request("DELETE", f"{maps}/{name}") for name in names])


def bench(load):
    maps = "/api/v1/namespaces/default/configmaps"
    rows = {"resident at rest, MiB": load.server.resident()}

    def measure(make):
        return load.run([load.request(*make(i)) for i in range(COUNT)])

    warm_up(load, maps)
    rows["create, us"] = measure(lambda i: ("POST", maps, config_map(f"c{i}")))
    rows["get, us"] = measure(lambda i: ("GET", f"{maps}/c{i}"))
    rows["update, us"] = measure(lambda i: ("PUT", f"{maps}/c{i}", config_map(f"c{i}", "y")))
    rows["merge patch, us"] = measure(
        lambda i: ("PATCH", f"{maps}/c{i}", {"data": {"value": "z"}}, "application/merge-patch+json"))
    rows["apply, us"] = measure(
        lambda i: ("PATCH", f"{maps}/c{i}?fieldManager=bench&force=true",
                   config_map(f"c{i}", "applied"), "application/apply-patch+yaml"))
    for i in range(COUNT, LISTED):
        load.server.call("POST", maps, config_map(f"c{i}"))
    rows[f"list of {LISTED}, us"] = load.run([load.request("GET", maps)] * 60)
    rows["list by label, us"] = load.run([load.request("GET", maps + "?labelSelector=tier%3D3")] * 200)
    rows["watch event delivered, us"] = measure_watch(load, maps)
    rows["delete, us"] = measure(lambda i: ("DELETE", f"{maps}/c{i}"))
    rows["resident at the end, MiB"] = load.server.resident()
    return rows


def main():
    servers = []
    for argument in sys.argv[2:]:
        name, kubeconfig, pids = argument.split("=")
        servers.append(Server(name, kubeconfig, [int(p) for p in pids.split(",")]))
    tables = []
    for server in servers:
        with tempfile.TemporaryDirectory() as folder:
            tables.append(bench(Load(sys.argv[1], server, folder)))
    print(f"{CLIENTS} clients")
    print(f"{'':28}" + "".join(f"{server.name:>18}" for server in servers) +
          (f"{'ratio':>10}" if len(servers) == 2 else ""))
    for row in tables[0]:
        values = [table[row] for table in tables]
        ratio = f"{values[0] / values[1]:>10.3f}" if len(values) == 2 and values[1] else ""
        print(f"{row:28}" + "".join(f"{value:>18.1f}" for value in values) + ratio)


if __name__ == "__main__":
    main()
