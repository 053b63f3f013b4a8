"""A web server in a thread that can simulate faults of servers and connections."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Server:
    """Serves `files` by name, and records `requests` as pairs of a name and a range or None.

    `disconnects` holds, for each coming response, the number of bytes sent before the connection breaks.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.disconnects: list[int] = []
        self.supports_ranges = True
        self.range_offset = 0
        self.content_type = "application/octet-stream"
        self.url = ""


@contextmanager
def running_server() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, wanted = self.path.lstrip("/"), self.headers["Range"]
            server.requests.append((name, wanted))
            if name not in server.files:
                self.send_error(404)
                return
            content, start = server.files[name], 0
            if wanted and server.supports_ranges:
                start = int(wanted.removeprefix("bytes=").removesuffix("-")) + server.range_offset
                if start >= len(content):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            self.send_header("Content-Type", server.content_type)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][: server.disconnects.pop(0) if server.disconnects else None])

        def log_message(self, *_: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listener.server_port}"
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
