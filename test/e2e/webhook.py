"""A webhook over HTTPS on loopback: webhook.py CERTIFICATE KEY PORT-FILE.

/validate refuses objects whose data has a member `deny`, /mutate adds the label `seen-by`,
/hang never answers, /convert turns `spec.hostPort` of v1 into `host` and `port` of v2 and back.
The port is written to PORT-FILE once it is served.
"""
import base64
import http.server
import json
import os
import ssl
import sys
import threading


def converted(thing, version):
    spec = thing.get("spec", {})
    if version.endswith("/v2"):
        host, _, port = spec.get("hostPort", "").partition(":")
        spec = {"host": host, "port": port}
    else:
        spec = {"hostPort": spec.get("host", "") + ":" + spec.get("port", "")}
    return {**thing, "apiVersion": version, "spec": spec}


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        response = {"uid": request["uid"], "allowed": True}
        if self.path.startswith("/convert"):
            version = request["desiredAPIVersion"]
            response = {"uid": request["uid"], "result": {"status": "Success"},
                        "convertedObjects": [converted(o, version) for o in request["objects"]]}
        if self.path.startswith("/hang"):
            threading.Event().wait()
        if self.path.startswith("/validate"):
            data = (request.get("object") or {}).get("data") or {}
            if "deny" in data:
                response["allowed"] = False
                response["status"] = {"code": 403, "reason": "Forbidden",
                                      "message": f"this data is denied: {data['deny']}"}
            elif "warn" in data:
                response["warnings"] = [data["warn"]]
        if self.path.startswith("/mutate"):
            patch = [{"op": "add", "path": "/metadata/labels", "value": {"seen-by": "webhook"}}]
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"],
                           "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def main():
    certificate, key, port_file = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(port_file + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


main()
