#!/usr/bin/env python3
"""hack/facts: the checked-in table is what it makes, and equal facts give equal bytes."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESOURCES = """\
b.example.com/v1:
  Zebra: zebras cluster
  Apple: apples namespaced short=ap cat=all sub=scale:Scale@autoscaling/v1;status
b.example.com/v1beta1:
  Apple: apples namespaced
v1:
  Note: notes namespaced verbs=create sub=read(get)
"""
TYPES = """\
package: k8s.io/api/%s/%s
group: "%s"
version: %s
types:
  Apple:
    $: kind
    metadata: 1 meta/v1.ObjectMeta
"""


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "hack/facts", *map(str, arguments)],
                          capture_output=True, text=True)


def tree(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def sample(folder, backwards=False):
    names = [("b", "v1"), ("b", "v1beta1"), ("meta", "v1")]
    (folder / "types").mkdir(parents=True)
    for package, version in reversed(names) if backwards else names:
        (folder / f"types/{package}_{version}.yaml").write_text(
            TYPES % (package, version, package, version))
    blocks = RESOURCES.split("\n")
    text = RESOURCES if not backwards else "\n".join(blocks[5:7] + blocks[:5]) + "\n"
    (folder / "resources.yaml").write_text(text)


class Facts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def test_checked_in_table_is_canonical(self):
        done = run(ROOT / "openapi/builtin", "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_order_of_input_does_not_matter(self):
        sample(self.at / "one")
        sample(self.at / "two", backwards=True)
        for name in ("one", "two"):
            done = run(self.at / name, "--out", self.at / f"{name}.out")
            self.assertEqual(done.returncode, 0, done.stderr)
        one = tree(self.at / "one.out")
        self.assertEqual(one, tree(self.at / "two.out"))
        self.assertEqual(sorted(one), ["resources.yaml", "types/b_v1.yaml", "types/meta_v1.yaml"])
        self.assertNotIn("v1beta1", one["resources.yaml"])
        lines = [l for l in one["resources.yaml"].split("\n") if not l.startswith("#")]
        self.assertEqual(lines[0], "v1:")
        self.assertLess(lines.index("  Apple: apples namespaced short=ap cat=all "
                                    "sub=scale:Scale@autoscaling/v1;status"),
                        lines.index("  Zebra: zebras cluster"))

    def test_both_discovery_documents_say_the_same(self):
        every = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
        plain = {"kind": "APIResourceList", "groupVersion": "b.example.com/v1", "resources": [
            {"name": "apples", "singularName": "apple", "namespaced": True, "kind": "Apple",
             "shortNames": ["ap"], "categories": ["all"], "verbs": every},
            {"name": "apples/scale", "singularName": "", "namespaced": True, "group": "autoscaling",
             "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"]},
            {"name": "apples/log", "singularName": "", "namespaced": True, "kind": "Apple",
             "verbs": ["get"]}]}
        own = {"group": "b.example.com", "version": "v1", "kind": "Apple"}
        joined = {"kind": "APIGroupDiscoveryList", "items": [{
            "metadata": {"name": "b.example.com"}, "versions": [{"version": "v1", "resources": [{
                "resource": "apples", "singularResource": "apple", "scope": "Namespaced",
                "responseKind": own, "shortNames": ["ap"], "categories": ["all"], "verbs": every,
                "subresources": [
                    {"subresource": "scale", "verbs": ["get", "patch", "update"], "responseKind":
                     {"group": "autoscaling", "version": "v1", "kind": "Scale"}},
                    {"subresource": "log", "verbs": ["get"], "responseKind": own}]}]}]}]}
        made = []
        for name, document in (("plain", plain), ("joined", joined)):
            (self.at / f"{name}.json").write_text(json.dumps(document))
            done = run("--discovery", self.at / f"{name}.json", "--out", self.at / name)
            self.assertEqual(done.returncode, 0, done.stderr)
            made.append(tree(self.at / name))
        self.assertEqual(made[0], made[1])
        self.assertIn("  Apple: apples namespaced short=ap cat=all "
                      "sub=scale:Scale@autoscaling/v1;log(get)\n", made[0]["resources.yaml"])

    def test_differences_are_found(self):
        sample(self.at / "facts")
        run(self.at / "facts", "--out", self.at / "out")
        self.assertEqual(run(self.at / "facts", "--out", self.at / "out", "--check").returncode, 0)
        (self.at / "out/types/b_v1.yaml").write_text("changed\n")
        done = run(self.at / "facts", "--out", self.at / "out", "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("types/b_v1.yaml: differs", done.stdout)

    def test_broken_facts_are_refused(self):
        sample(self.at / "facts")
        (self.at / "facts/types/meta_v1.yaml").unlink()
        done = run(self.at / "facts", "--out", self.at / "out")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("meta_v1", done.stderr)
        self.assertFalse((self.at / "out").exists())


if __name__ == "__main__":
    unittest.main()
