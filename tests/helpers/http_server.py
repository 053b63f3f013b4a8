"""A web server in a thread that can simulate faults of servers and connections."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


class Server:
    """Serves `files` by name, with `headers`, and records the names of `requests`.

    `disconnects` holds, for each of the next responses, how many bytes are sent before the connection breaks.
    While `stalls`, responses stop halfway, and the connection stays open.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.disconnects: list[int] = []
        self.stalls = False
        self.headers = {"Content-Type": "application/octet-stream"}
        self.url = ""


@contextmanager
def running_server() -> Iterator[Server]:
    server, stopped = Server(), Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            server.requests.append(name)
            if name not in server.files:
                self.send_error(404)
                return
            content = server.files[name]
            self.send_response(200)
            for header in server.headers.items():
                self.send_header(*header)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if server.stalls:
                self.wfile.write(content[: len(content) // 2])
                stopped.wait()
            else:
                self.wfile.write(content[: server.disconnects.pop(0) if server.disconnects else None])

        def log_message(self, *_: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listener.server_port}"
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        stopped.set()
        listener.shutdown()
        thread.join()
        listener.server_close()
