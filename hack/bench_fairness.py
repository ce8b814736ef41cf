#!/usr/bin/env python3
"""What a tenant feels of another tenant's storm: latencies in one workspace, idle and while others
list a large workspace as fast as they can.

Usage: bench_fairness.py KUBECONFIG   (run by hack/bench fairness)

Both share the machine with the server, which tenants do not: the storm, h2load's, runs only on idle
processors and the tenant, where this program may raise its priority, before others, so that nobody's
waiting for a processor is counted but the server's. Prints one table; asserts nothing.

MAILROOM_BENCH_COUNT    operations of a kind (default 1500)
MAILROOM_BENCH_LISTED   objects in the stormy workspace (default 5000)
MAILROOM_BENCH_CLIENTS  connections of the storm, with four lists under way on each (default 8)
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
import time

COUNT = int(os.environ.get("MAILROOM_BENCH_COUNT", "1500"))
LISTED = int(os.environ.get("MAILROOM_BENCH_LISTED", "5000"))
CLIENTS = int(os.environ.get("MAILROOM_BENCH_CLIENTS", "8"))
# What is created piles up apart from what is listed, which stays the same throughout.
CALM, WRITTEN, STORMY = "calm", "written", "stormy"


class Hub:
    def __init__(self, kubeconfig):
        text = open(kubeconfig).read()

        def pem(field):
            return base64.b64decode(re.search(field + r"-data: \"?([A-Za-z0-9+/=]+)", text).group(1)).decode()

        self.url = re.search(r"server: \"?(https://[^/\s\"]+)", text).group(1)
        context = ssl.create_default_context(cadata=pem("certificate-authority"))
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(pem("client-certificate") + pem("client-key"))
            pair.flush()
            context.load_cert_chain(pair.name)
        self.connection = http.client.HTTPSConnection(self.url.split("/")[2], context=context)

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body else {}
        self.connection.request(method, path, json.dumps(body) if body else None, headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {answer[:300]}")
        return json.loads(answer)


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
            "data": {"fill": "f" * 900}}


def fill(hub):
    for name, count in ((CALM, 50), (WRITTEN, 0), (STORMY, LISTED)):
        hub.ask("POST", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces",
                {"apiVersion": "mailbox.kubestellar.io/v1alpha1", "kind": "Workspace",
                 "metadata": {"name": name}, "spec": {"type": "cluster"}})
        for i in range(count):
            hub.ask("POST", f"/clusters/{name}/api/v1/namespaces/default/configmaps", config_map(f"c{i}"))
    accounts = f"/clusters/{STORMY}/api/v1/namespaces/default/serviceaccounts"
    hub.ask("POST", accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "storm"}})
    group = "rbac.authorization.k8s.io"
    hub.ask("POST", f"/clusters/{STORMY}/apis/{group}/v1/clusterrolebindings",
            {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "storm"},
             "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
             "subjects": [{"kind": "ServiceAccount", "name": "storm", "namespace": "default"}]})
    return hub.ask("POST", accounts + "/storm/token",
                   {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"})["status"]["token"]


def measure(hub, turn):
    """Latencies in milliseconds by operation, sorted."""
    base = f"/clusters/{CALM}/api/v1/namespaces/default/configmaps"
    made = f"/clusters/{WRITTEN}/api/v1/namespaces/default/configmaps"
    operations = {
        "get": lambda i: hub.ask("GET", f"{base}/c{i % 50}"),
        "list of 50": lambda i: hub.ask("GET", base),
        "create": lambda i: hub.ask("POST", made, config_map(f"n{turn}-{i}")),
    }
    times = {name: [] for name in operations}
    for i in range(COUNT):
        for name, run in operations.items():
            start = time.perf_counter()
            run(i)
            times[name].append((time.perf_counter() - start) * 1000)
    return {name: sorted(values) for name, values in times.items()}


def prefer_me():
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError:
        pass


def yield_to_all():
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main():
    prefer_me()
    hub = Hub(sys.argv[1])
    token = fill(hub)
    measure(hub, "warm")
    idle = measure(hub, "idle")
    storm = subprocess.Popen(
        ["h2load", "-c", str(CLIENTS), "-m", "4", "-t", "1", "-D", "600", "-H",
         f"authorization: Bearer {token}", f"{hub.url}/clusters/{STORMY}/api/v1/configmaps"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=yield_to_all)
    try:
        time.sleep(2)
        stormy = measure(hub, "storm")
        alive = storm.poll() is None
    finally:
        storm.kill()
        storm.wait()
    if not alive:
        raise RuntimeError("the storm ended early")
    print(f"{CLIENTS} connections list {LISTED} objects, four at a time; {COUNT} operations of a kind beside them")
    print(f"{'operation':<12}{'idle p50':>10}{'p99':>8}{'storm p50':>11}{'p99':>8}{'p99 ratio':>11}   (ms)")
    for name, quiet in idle.items():
        loud = stormy[name]
        at = lambda values, part: values[min(int(len(values) * part), len(values) - 1)]
        print(f"{name:<12}{at(quiet, .5):>10.2f}{at(quiet, .99):>8.2f}{at(loud, .5):>11.2f}{at(loud, .99):>8.2f}"
              f"{at(loud, .99) / at(quiet, .99):>11.2f}")


if __name__ == "__main__":
    main()
