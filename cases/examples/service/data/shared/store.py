"""A key-value store over HTTP: GET and PUT of /key on 127.0.0.1 at the port of its argument."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STORE = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        value = b"well" if self.path == "/health" else STORE.get(self.path)
        self.answer(404 if value is None else 200, value or b"")

    def do_PUT(self):
        STORE[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Say nothing of each request."""


print("serving at port", sys.argv[1], flush=True)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
