"""The Python client library against a workspace: objects, built-in and of a kind of its own,
patches, and a cache kept by list and watch across a restart of the server.

Usage: client_python.py KUBECONFIG SERVER FOLDER

Asks for the restart by creating FOLDER/restart and goes on when FOLDER/restarted is there.
"""
import json
import os
import sys
import threading
import time

import urllib3
from kubernetes import client, config, watch

kubeconfig, server, folder = sys.argv[1:4]
settings = client.Configuration()
config.load_kube_config(kubeconfig, client_configuration=settings)
settings.host = server
api_client = client.ApiClient(settings)
core, apps, custom = client.CoreV1Api(api_client), client.AppsV1Api(api_client), client.CustomObjectsApi(api_client)
NS = "python"


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def eventually(condition, what):
    end = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < end, what)
        time.sleep(0.05)


def refused(code, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except client.exceptions.ApiException as error:
        check(error.status == code, f"{error.status} instead of {code}: {error.body}")
        return error
    sys.exit(f"FAILED: accepted what must be {code}")


def patched(path, content_type, body, **query):
    """A patch of any type; the generated methods of this release choose it by the body."""
    return api_client.call_api(
        path, "PATCH", query_params=list(query.items()), body=json.dumps(body), response_type="object",
        header_params={"Content-Type": content_type, "Accept": "application/json"},
        auth_settings=["BearerToken"], _return_http_data_only=True)


class Cache:
    """List, then watch from its revision; again when told that it is too old."""

    def __init__(self, lister, namespace):
        self.lister, self.namespace, self.objects, self.ended, self.lists = (
            lister, namespace, {}, False, 0)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended:
            try:
                listed = self.lister(self.namespace)
                self.lists += 1
                self.objects = {o.metadata.name: o for o in listed.items}
                self.follow(listed.metadata.resource_version)
            except (client.exceptions.ApiException, urllib3.exceptions.HTTPError, ValueError):
                time.sleep(0.1)

    def follow(self, revision):
        while not self.ended:
            for event in watch.Watch().stream(self.lister, self.namespace, resource_version=revision,
                                              allow_watch_bookmarks=True, timeout_seconds=5):
                found = event["object"]
                if event["type"] == "BOOKMARK":
                    revision = event["raw_object"]["metadata"]["resourceVersion"]
                    continue
                revision = found.metadata.resource_version
                if event["type"] == "DELETED":
                    self.objects.pop(found.metadata.name, None)
                else:
                    self.objects[found.metadata.name] = found


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NS)))
cache = Cache(core.list_namespaced_config_map, NS)
eventually(lambda: cache.lists == 1, "the first list")

made = core.create_namespaced_config_map(NS, config_map("a", colour="red"))
check(made.metadata.uid and made.metadata.creation_timestamp, "what the server fills in")
refused(409, core.create_namespaced_config_map, NS, config_map("a"))
refused(404, core.read_namespaced_config_map, "none", NS)
check(core.read_namespaced_config_map("a", NS).data == {"colour": "red"}, "read")
made.data["colour"] = "blue"
changed = core.replace_namespaced_config_map("a", NS, made)
check(changed.data["colour"] == "blue", "replace")
made.data["colour"] = "green"
error = refused(409, core.replace_namespaced_config_map, "a", NS, made)
check("the object has been modified" in error.body, "text of the conflict")
core.patch_namespaced_config_map("a", NS, {"data": {"size": "9"}})
core.patch_namespaced_config_map("a", NS, [{"op": "remove", "path": "/data/colour"}])
check(core.read_namespaced_config_map("a", NS).data == {"size": "9"}, "patches")
path = f"/api/v1/namespaces/{NS}/configmaps/b"
intent = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"x": "1"}}
applied = patched(path, "application/apply-patch+yaml", intent, fieldManager="one")
check(applied["metadata"]["managedFields"][0]["operation"] == "Apply", "apply creates")
intent["data"]["x"] = "2"
refused(409, patched, path, "application/apply-patch+yaml", intent, fieldManager="two")
check(patched(path, "application/apply-patch+yaml", intent, fieldManager="two",
              force="true")["data"]["x"] == "2", "forced apply")

deployment = client.V1Deployment(
    metadata=client.V1ObjectMeta(name="web"),
    spec=client.V1DeploymentSpec(
        selector=client.V1LabelSelector(match_labels={"a": "b"}),
        template=client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels={"a": "b"}),
            spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="i")]))))
check(apps.create_namespaced_deployment(NS, deployment).spec.strategy.type == "RollingUpdate", "defaults")
scale = apps.read_namespaced_deployment_scale("web", NS)
scale.spec.replicas = 3
check(apps.replace_namespaced_deployment_scale("web", NS, scale).spec.replicas == 3, "scale")
deployment.spec.template.metadata.labels = {"a": "c"}
refused(422, apps.create_namespaced_deployment, NS, deployment)
check("apps" in [group.name for group in client.ApisApi(api_client).get_api_versions().groups], "groups")

text, number = {"type": "string"}, {"type": "integer"}
client.ApiextensionsV1Api(api_client).create_custom_resource_definition({
    "metadata": {"name": "tools.python.example.com"},
    "spec": {
        "group": "python.example.com", "scope": "Namespaced", "names": {"plural": "tools", "kind": "Tool"},
        "versions": [{
            "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"size": number, "colour": {**text, "default": "red"}}},
                "status": {"type": "object", "properties": {"phase": text}}}}}}]}}, _preload_content=False)
tools = {"group": "python.example.com", "version": "v1", "namespace": NS, "plural": "tools"}


def served():
    try:
        return custom.list_namespaced_custom_object(**tools)["kind"] == "ToolList"
    except client.exceptions.ApiException:
        return False


def tool(name, **spec):
    return {"apiVersion": "python.example.com/v1", "kind": "Tool", "metadata": {"name": name}, "spec": spec}


eventually(served, "the definition")
made = custom.create_namespaced_custom_object(**tools, body=tool("saw", size=1))
check(made["spec"] == {"size": 1, "colour": "red"}, "defaults of a custom resource")
refused(422, custom.create_namespaced_custom_object, **tools, body=tool("axe", size="large"))
made["spec"]["size"] = 2
changed = custom.replace_namespaced_custom_object(**tools, name="saw", body=made)
refused(409, custom.replace_namespaced_custom_object, **tools, name="saw", body=made)
custom.patch_namespaced_custom_object(**tools, name="saw", body={"spec": {"size": 3, "colour": "blue"}})
custom.patch_namespaced_custom_object_status(
    **tools, name="saw", body={"spec": {"size": 4}, "status": {"phase": "sharp"}})
path = f"/apis/python.example.com/v1/namespaces/{NS}/tools/saw"
refused(415, patched, path, "application/strategic-merge-patch+json", {})
read = custom.get_namespaced_custom_object(**tools, name="saw")
check(read["spec"] == {"size": 3, "colour": "blue"} and read["status"] == {"phase": "sharp"}, "a custom resource")
check(read["metadata"]["generation"] == 3, "its generation")
seen = [(event["type"], event["object"]["metadata"]["name"]) for event in watch.Watch().stream(
    custom.list_namespaced_custom_object, **tools, timeout_seconds=1)]
check(seen == [("ADDED", "saw")], f"a watch of custom resources: {seen}")
custom.delete_namespaced_custom_object(**tools, name="saw")
refused(404, custom.get_namespaced_custom_object, **tools, name="saw")

for i in range(20):
    core.create_namespaced_config_map(NS, config_map(f"n{i:02}", i=str(i)))
first = core.list_namespaced_config_map(NS, limit=7)
check(len(first.items) == 7 and first.metadata._continue, "page")
rest = core.list_namespaced_config_map(NS, limit=100, _continue=first.metadata._continue)
check([o.metadata.name for o in first.items + rest.items] == sorted(
    o.metadata.name for o in core.list_namespaced_config_map(NS).items), "pages are the list")

eventually(lambda: len([n for n in list(cache.objects) if n != "kube-root-ca.crt"]) == 22, "the cache follows")
open(os.path.join(folder, "restart"), "w").close()
eventually(lambda: os.path.exists(os.path.join(folder, "restarted")), "the restart")
core.create_namespaced_config_map(NS, config_map("after"))
core.delete_namespaced_config_map("n00", NS)
core.patch_namespaced_config_map("n01", NS, {"data": {"i": "changed"}})


def same():
    listed = {o.metadata.name: o.metadata.resource_version
              for o in core.list_namespaced_config_map(NS).items}
    return {n: o.metadata.resource_version for n, o in dict(cache.objects).items()} == listed


eventually(same, "the cache is what the server has, after a restart")
core.delete_collection_namespaced_config_map(NS)
eventually(lambda: not [n for n in list(cache.objects) if n != "kube-root-ca.crt"], "deletecollection is seen")
cache.ended = True
client.ApiextensionsV1Api(api_client).delete_custom_resource_definition("tools.python.example.com")
core.delete_namespace(NS)
print("the Python client library works")
