#!/usr/bin/env python3
"""House rules as a test: include arrows, file sizes, banned words, files in no target.

Prints one line per broken rule and exits 1 when there is any.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> folders it may include from (besides itself). The longest matching folder counts.
ARROWS = {
    "storage/object": [],
    "storage": ["storage/object"],
    "openapi/cel": ["storage/object"],
    "openapi": ["openapi/cel", "storage/object"],
    "apiserver/client": ["storage/object"],
    "apiserver/http": ["apiserver", "storage/object"],
    "apiserver/auth": ["storage", "storage/object", "openapi"],
    "apiserver/admission": ["apiserver", "apiserver/auth", "apiserver/client", "storage", "storage/object", "openapi", "openapi/cel"],
    "apiserver": ["apiserver/admission", "apiserver/auth", "storage", "storage/object", "openapi", "openapi/cel", "apiserver/client"],
    "mailbox": ["apiserver/client", "openapi", "openapi/cel", "storage/object"],
    "translator": ["apiserver/client", "openapi", "openapi/cel", "storage/object"],
    "syncer": ["apiserver/client", "openapi", "openapi/cel", "storage/object"],
}
# Programs put the parts together and may include all of them.
PROGRAMS = {"apiserver/main.cc", "syncer/main.cc"}

# Third-party headers and the only places that may include them.
FENCED = {
    r"<(drogon|trantor)/": r"^apiserver/http/|^hack/",
    r"<nghttp2/": r"^apiserver/http/",
    r"<(grpcpp|grpc)/|<google/protobuf": r"^storage/etcd_",
    r"<yaml-cpp/": r"^storage/object/yaml\.cc$",
    r"<sqlite3\.h>": r"^storage/sqlite_|_test\.cc$",
    r"<curl/": r"^apiserver/client/curl_|_test\.cc$|^apiserver/http/.*test",
    r"<boost/": r"^apiserver/fiber\.cc$",
    r"<nlohmann/": r"^storage/object/json(_fwd)?\.h$",
}

MAX_LINES = 500

BANNED = [
    (r"\b(class|struct) \w*(Manager|Util|Utils|Helper|Impl|Base)\b",
     "a type name that says nothing", None),
    (r"\.detach\(\)", "a detached thread", None),
    (r"\bsleep_for\b", "a sleep outside tests", r"_test|^test/|/test_"),
    (r"\bstd::regex\b", "std::regex (use RE2)", None),
    (r"\bFIXME\b", "FIXME", None),
    (r"^\s*//\s*TEST(_F|_P)?\(", "a test commented out", None),
]


def tracked():
    out = subprocess.run(["git", "ls-files", "*.h", "*.cc"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout.split()
    return [f for f in out if (ROOT / f).exists()]


def folder_of(path):
    for folder in sorted(ARROWS, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def check_includes(path, text, problems):
    folder = folder_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#include\s+(["<].*[">])', line)
        if not match:
            continue
        target = match.group(1)
        for pattern, allowed in FENCED.items():
            if re.search(pattern, target) and not re.search(allowed, path):
                problems.append(f"{path}:{number}: {target} is fenced ({allowed})")
        if folder is None or path in PROGRAMS or not target.startswith('"'):
            continue
        other = folder_of(target.strip('"'))
        if other is None or other == folder or other in ARROWS[folder]:
            continue
        if path.endswith("_test.cc") and other.startswith("storage"):
            continue
        problems.append(f"{path}:{number}: {folder} may not include {other}")


def check_text(path, text, problems):
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        problems.append(f"{path}: {len(lines)} lines, at most {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        for pattern, what, allowed in BANNED:
            if re.search(pattern, line) and not (allowed and re.search(allowed, path)):
                problems.append(f"{path}:{number}: {what}")


def check_targets(paths, problems):
    lists = "\n".join(p.read_text() for pattern in ("CMakeLists.txt", "*.cmake")
                      for p in ROOT.glob(f"**/{pattern}") if "build" not in p.parts)
    for path in paths:
        name = path.rsplit("/", 1)[-1]
        if path.endswith(".cc") and not path.startswith("hack/") and name not in lists:
            problems.append(f"{path}: in no target")


def main():
    problems = []
    paths = tracked()
    for path in paths:
        text = (ROOT / path).read_text()
        check_includes(path, text, problems)
        check_text(path, text, problems)
    check_targets(paths, problems)
    if not paths:
        problems.append("no source file found")
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} broken rules")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
