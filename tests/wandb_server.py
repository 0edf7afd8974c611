"""As much of a Weights & Biases server as a run needs, on this machine: it keeps the history of every run."""

import contextlib
import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USER = {"id": "u", "name": "me", "username": "me", "entity": "me", "flags": "{}", "teams": {"edges": []}}
PROJECT = {"id": "p", "name": "toys", "entity": {"id": "e", "name": "me"}}


class Server(ThreadingHTTPServer):
    """Recorded requests: the lines of each run's history, the variables of each upsert, exit codes."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.history: dict[str, list[dict]] = {}
        self.upserts: list[dict] = []
        self.exits: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_):
        pass

    def do_PUT(self):
        self.body()
        self.answer({})

    def do_POST(self):
        body = json.loads(self.body())
        if "file_stream" in self.path:
            self.stream(self.path.split("/")[-2], body)
            self.answer({})
        else:
            self.answer({"data": self.graphql(body["query"], body.get("variables") or {})})

    def body(self) -> bytes:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def answer(self, content: dict) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, run: str, body: dict) -> None:
        lines = (body.get("files") or {}).get("wandb-history.jsonl")
        if lines:
            self.server.history.setdefault(run, [])[lines["offset"] :] = map(json.loads, lines["content"])
        if body.get("complete"):
            self.server.exits.append(body["exitcode"])

    def graphql(self, query: str, variables: dict) -> dict:
        name = variables.get("name")
        history = self.server.history.get(name)
        counts = {"historyLineCount": len(history or []), "eventsLineCount": 0, "logLineCount": 0}
        bucket = {"id": "b", "name": name, "displayName": name, "config": "{}", "project": PROJECT, **counts}
        if "upsertBucket" in query:
            self.server.upserts.append(variables)
            return {"upsertBucket": {"bucket": bucket, "inserted": history is None}}
        if "historyTail" in query:  # asked where a run may be resumed
            tail = [json.dumps(line) for line in (history or [])[-1:]]
            more = {"summaryMetrics": "{}", "historyTail": json.dumps(tail), "eventsTail": "[]", "tags": []}
            started = {"wandbConfig": json.dumps({"t": {}})}
            return {"model": {**PROJECT, "bucket": None if history is None else bucket | more | started}}
        if "createRunFiles" in query:
            files = [{"name": file, "uploadUrl": f"{self.server.url}/{file}"} for file in variables["files"]]
            return {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": files}}
        return {"viewer": USER, "serverInfo": {"cliVersionInfo": {}, "features": []}, "entity": {"id": "e"}}


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Serve in a thread of this process."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
