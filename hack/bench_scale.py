#!/usr/bin/env python3
"""What thousands of mailboxes cost: made from SyncTargets, idle, started with, deleted.

Usage: bench_scale.py MAILROOM-BINARY [COUNT]   (run by hack/bench scale)

Prints one table with the targets beside the figures; asserts nothing. Rates depend on how busy the
machine is; memory does not.
"""
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import h2_post  # noqa: E402
from bench_api import Server, config_map  # noqa: E402

COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
OBJECTS = int(os.environ.get("MAILROOM_BENCH_OBJECTS", str(COUNT * 10)))
CLIENTS = 8
EDGE = "/apis/edge.kubestellar.io/v2alpha1/synctargets"
ROOT = "/apis/mailbox.kubestellar.io/v1alpha1"
rows = []


def row(what, figure, target):
    rows.append((what, figure, target))
    print(f"  {what:<52} {figure:>22}   {target}", flush=True)


class Hub:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def start(self):
        kubeconfig = self.folder + "/admin"
        if os.path.exists(kubeconfig):
            os.unlink(kubeconfig)
        begun = time.time()
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data-dir", self.folder + "/hub", "--listen", "127.0.0.1:0",
             "--kubeconfig-out", kubeconfig], stdout=open(self.folder + "/log", "a"), stderr=subprocess.STDOUT)
        while not (os.path.exists(kubeconfig) and os.path.getsize(kubeconfig)):
            time.sleep(0.01)
        self.kubeconfig = kubeconfig
        self.client = self.connect("root")
        self.client.call("GET", "/api/v1/namespaces")
        return time.time() - begun

    def connect(self, workspace):
        server = Server("hub", self.kubeconfig, [self.process.pid])
        server.base = "/clusters/" + workspace
        return server

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def memory(self, which):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(which + ":"):
                return int(line.split()[1]) * 1024
        return 0

    def resident(self):
        return self.memory("VmRSS")

    def residence(self):
        """In MiB: all of it, and of that its own and what it mapped from files."""
        parts = (self.memory(which) / 2**20 for which in ("VmRSS", "RssAnon", "RssFile"))
        return "{:.0f} ({:.0f}+{:.0f}) MiB".format(*parts)

    def idle_cpu(self, seconds=10):
        """Milliseconds of CPU a second, while nobody asks for anything."""
        begun = self.client.cpu()
        time.sleep(seconds)
        return (self.client.cpu() - begun) / seconds * 1000

    def series(self):
        server = self.connect("root")
        server.base = ""
        lines = server.call("GET", "/metrics").decode().splitlines()
        return sum(1 for line in lines if line and not line.startswith("#"))

    def post(self, workspace, path, objects):
        """Creates the objects over HTTP/2: the machine is the server's, not the client's."""
        host, port = self.client.host.split(":")
        pki = self.folder + "/hub/pki/"
        tls = h2_post.context(pki + "ca.crt", pki + "admin.crt", pki + "admin.key", "h2")
        counts = h2_post.post(host, int(port), tls, f"/clusters/{workspace}{path}",
                              [json.dumps(each).encode() for each in objects], 2)
        if set(counts) != {("201", False)}:
            raise RuntimeError(f"answers: {dict(counts)}")

    def count(self, resource):
        text = json.loads(self.client.call("GET", f"{ROOT}/{resource}?limit=1"))
        return len(text["items"]) + text["metadata"].get("remainingItemCount", 0)


def in_parallel(hub, workspace, work, jobs):
    """work(server, job) for every job, over a few connections; returns the seconds it took."""
    lock, jobs = threading.Lock(), iter(jobs)

    def run():
        server = hub.connect(workspace)
        while True:
            with lock:
                job = next(jobs, None)
            if job is None:
                return
            work(server, job)

    begun = time.time()
    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.time() - begun


def until(condition, limit):
    begun = time.time()
    while not condition():
        if time.time() - begun > limit:
            return None
        time.sleep(0.05)
    return time.time() - begun


def first_requests(hub, samples):
    """Seconds from the event of a new Mailbox to the first good answer of its workspace."""
    reader, times = hub.connect("root"), []
    watch = reader.connect()
    watch.request(
        "GET", f"/clusters/root{ROOT}/mailboxes?watch=1&resourceVersion=" +
        json.loads(reader.call("GET", f"{ROOT}/mailboxes?limit=1"))["metadata"]["resourceVersion"],
        headers={"User-Agent": "bench/1"})
    response = watch.getresponse()
    maker = hub.connect("its1")
    for i in range(samples):
        maker.call("POST", EDGE, sync_target(f"first-{i}"))
        while True:
            event = json.loads(response.readline())
            if event["type"] == "ADDED":
                break
        begun = time.time()
        reader.base = "/clusters/" + event["object"]["metadata"]["name"]
        while True:
            try:
                reader.call("GET", "/api/v1/namespaces")
                break
            except RuntimeError:
                pass
        times.append(time.time() - begun)
    watch.close()
    return sorted(times)


def sync_target(name):
    return {"apiVersion": "edge.kubestellar.io/v2alpha1", "kind": "SyncTarget",
            "metadata": {"name": name, "labels": {"env": "prod"}}}


def main():
    folder = tempfile.mkdtemp(prefix="mailroom-scale.")
    hub = Hub(sys.argv[1], folder)
    try:
        hub.start()
        print(f"{COUNT} mailboxes, {OBJECTS} objects")
        in_parallel(hub, "its1", lambda s, i: s.call("POST", EDGE, sync_target(f"warm-{i}")), range(50))
        until(lambda: hub.count("mailboxes") == 50, 60)
        times = first_requests(hub, 200)
        row("first request of a new mailbox, p99", f"{times[int(len(times) * 0.99)] * 1000:.1f} ms", "< 10 ms")
        before, base = hub.resident(), hub.count("mailboxes")
        series, rest = hub.series(), hub.idle_cpu()
        row("resident before (own + of files)", hub.residence(), "")
        begun = time.time()
        hub.post("its1", EDGE, [sync_target(f"t{i}") for i in range(COUNT)])
        posted = time.time() - begun
        until(lambda: hub.count("mailboxes") >= base + COUNT, 600)
        took = time.time() - begun
        row("SyncTargets posted by this client", f"{COUNT / posted:.0f} /s", "")
        row("mailboxes made from SyncTargets", f"{COUNT / took:.0f} /s", ">= 1000 /s")
        time.sleep(10)
        full = hub.resident()
        row("resident with all of them", hub.residence(), "< 1024 MiB")
        row("metrics series, before and with all", f"{series}, {hub.series()}", "the same")
        row("an idle mailbox, with history of its making", f"{(full - before) / COUNT / 1024:.1f} KiB", "")
        hub.stop()
        row("start-up with the mailboxes", f"{hub.start():.1f} s", "")
        time.sleep(5)
        idle = hub.resident()
        row("CPU at rest, before and with all", f"{rest:.1f}, {hub.idle_cpu():.1f} ms/s", "the same")
        row("an idle mailbox, after a restart", f"{(idle - before) / COUNT / 1024:.1f} KiB", "<= 32 KiB")
        names = [item["metadata"]["name"] for item in
                 json.loads(hub.client.call("GET", f"{ROOT}/mailboxes"))["items"]]

        def put(server, i):
            server.base = "/clusters/" + names[i % len(names)]
            server.call("POST", "/api/v1/namespaces/default/configmaps", config_map(f"o{i}"))

        in_parallel(hub, "root", put, range(OBJECTS))
        hub.stop()
        row(f"start-up with {OBJECTS} objects in them", f"{hub.start():.1f} s", "<= 10 s")
        in_parallel(hub, "root", lambda s, i: (
            setattr(s, "base", "/clusters/" + names[i % len(names)]),
            s.call("DELETE", f"/api/v1/namespaces/default/configmaps/o{i}")), range(OBJECTS))
        begun = time.time()
        in_parallel(hub, "its1", lambda s, i: s.call("DELETE", f"{EDGE}/t{i}"), range(COUNT))
        until(lambda: hub.count("workspaces") <= base + 2, 600)
        row("all deleted again", f"{time.time() - begun:.1f} s", "<= 60 s")
        row("resident at once", hub.residence(), "")
        goal = before * 1.2
        waited = until(lambda: hub.resident() <= goal, 420)
        row("resident when history has been forgotten", hub.residence(),
            f"<= {goal / 2**20:.0f} MiB" + ("" if waited is not None else " (missed)"))
    finally:
        hub.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
