"""Downloads from a server of our own: whole, broken off, resumed, wrong, by several processes at once."""

import hashlib
import io
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sparseid.data.cars3d import files as cars3d
from sparseid.data.download import CHUNK, TRIES, download, unpack
from sparseid.data.movielens.sources import fetch
from sparseid.data.mpi3d import files as mpi3d
from sparseid.data.shapes3d import files as shapes3d
from sparseid.errors import InputError

CONTENT = bytes(range(256)) * 20000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file; breaks the first `breaks` connections off half-way; knows ranges unless told otherwise."""

    def __init__(self, content=CONTENT, breaks=0, ranges=True, version=""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.version = version
        self.content, self.breaks, self.ranges, self.asked = content, breaks, ranges, []
        self.blind, self.shift, self.total, self.piece, self.status, self.kind = False, 0, 0, 0, 200, ""
        self.url = f"http://127.0.0.1:{self.server_port}/file.zip"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, asked = self.server, self.headers.get("Range")
        server.asked.append(asked)
        if self.path != "/file.zip":
            self.send_error(404)
            return
        same = server.blind or self.headers.get("If-Range", server.version) == server.version
        ranges = server.ranges and same
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and ranges else 0
        if start and start >= len(server.content):
            self.send_error(416)
            return
        body = server.content[start:]
        if start and server.piece:
            body = body[: server.piece]
        self.send_response(206 if start else server.status)
        if server.kind:
            self.send_header("Content-Type", server.kind)
        self.send_header("Content-Length", str(len(body)))
        if start:
            total = server.total or len(server.content)
            self.send_header("Content-Range", f"bytes {start + server.shift}-{len(server.content) - 1}/{total}")
        if server.version:
            self.send_header("ETag", server.version)
        self.end_headers()
        if server.breaks:
            server.breaks -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(**options):
        servers.append(Server(**options))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def left(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


@pytest.mark.parametrize("md5", [MD5, None])
def test_a_file_is_downloaded_once(serve, tmp_path, md5):
    server, path = serve(), tmp_path / "deep" / "file.zip"
    for _ in range(2):
        assert download(server.url, path, md5, "by hand").read_bytes() == CONTENT
    assert server.asked == [None]
    assert left(path.parent) == ["file.zip"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_connection_that_breaks_is_gone_on_with(serve, tmp_path, ranges):
    server, path = serve(breaks=1, ranges=ranges), tmp_path / "file.zip"
    assert download(server.url, path, MD5, "by hand").read_bytes() == CONTENT
    first, second = server.asked
    assert first is None
    assert len(CONTENT) // 2 - CHUNK < int(second.removeprefix("bytes=").rstrip("-")) <= len(CONTENT) // 2
    assert left(tmp_path) == ["file.zip"]


def test_a_truncated_download_is_no_file_and_the_next_command_goes_on(serve, tmp_path):
    server, path = serve(breaks=TRIES), tmp_path / "file.zip"
    with pytest.raises(InputError, match=r"cannot be downloaded[\s\S]*place it by hand"):
        download(server.url, path, MD5, "place it by hand")
    assert left(tmp_path) == [".file.zip.part"]
    assert download(server.url, path, MD5, "").read_bytes() == CONTENT
    assert left(tmp_path) == ["file.zip"]


def test_a_file_with_another_checksum_is_refused(serve, tmp_path):
    server = serve(content=CONTENT[:-1] + b"x")
    with pytest.raises(InputError, match=f"not the file with the MD5 checksum {MD5}\nby hand"):
        download(server.url, tmp_path / "file.zip", MD5, "by hand")
    assert left(tmp_path) == []


def test_a_part_of_another_file_is_begun_anew(serve, tmp_path):
    server = serve()
    (tmp_path / ".file.zip.part").write_bytes(CONTENT + b"more")
    assert download(server.url, tmp_path / "file.zip", MD5, "").read_bytes() == CONTENT


@pytest.mark.parametrize("md5", [MD5, None])
def test_a_part_of_another_file_is_not_continued(serve, tmp_path, md5):
    """Without a checksum and without the server's word for it not at all; with one it is noticed."""
    server = serve()
    (tmp_path / ".file.zip.part").write_bytes(b"of another file")
    assert download(server.url, tmp_path / "file.zip", md5, "").read_bytes() == CONTENT
    assert server.asked[-1] is None
    assert left(tmp_path) == ["file.zip"]


@pytest.mark.parametrize(("version", "goes_on"), [('"one"', True), ('"two"', False), ('W/"one"', False), ("", False)])
def test_a_part_without_a_checksum_is_continued_if_the_server_still_has_that_version(serve, tmp_path, version, goes_on):
    server = serve(breaks=TRIES, version='"one"' if goes_on or version == '"two"' else version)
    with pytest.raises(InputError):
        download(server.url, tmp_path / "file.zip", None, "")
    server.version, server.content = version, CONTENT if goes_on else CONTENT[::-1]
    assert download(server.url, tmp_path / "file.zip", None, "").read_bytes() == server.content
    assert (server.asked[-1] is not None) == (goes_on or version == '"two"')  # asked, but answered with the whole file
    assert left(tmp_path) == ["file.zip"]


@pytest.mark.parametrize("md5", [MD5, None])
@pytest.mark.parametrize("wrong", [{"version": '"two"'}, {"version": ""}, {"shift": 1}, {"total": len(CONTENT) + 1}])
def test_a_rest_that_does_not_belong_to_the_part_is_not_used(serve, tmp_path, wrong, md5):
    """Of a server that ignores If-Range, or of a cache in between."""
    server = serve(breaks=TRIES, version='"one"')
    with pytest.raises(InputError):
        download(server.url, tmp_path / "file.zip", md5, "")
    server.blind = True
    for name, value in wrong.items():
        setattr(server, name, value)
    before = len(server.asked)
    assert download(server.url, tmp_path / "file.zip", md5, "").read_bytes() == CONTENT
    first, second = server.asked[before:]
    assert first is not None
    assert second is None  # from the beginning
    assert left(tmp_path) == ["file.zip"]


def test_a_part_from_another_address_is_begun_anew_without_a_checksum(serve, tmp_path):
    one, two = serve(breaks=TRIES, version='"v"'), serve(content=CONTENT[::-1], version='"v"')
    with pytest.raises(InputError):
        download(one.url, tmp_path / "file.zip", None, "")
    assert download(two.url, tmp_path / "file.zip", None, "").read_bytes() == CONTENT[::-1]
    assert two.asked == [None]


def test_the_rest_in_pieces_is_no_whole_file(serve, tmp_path):
    """Of a server that answers with less than was asked for."""
    server, path = serve(breaks=1, version='"one"'), tmp_path / "file.zip"
    server.piece = len(CONTENT) // 8
    with pytest.raises(InputError, match=rf"{server.url} cannot be .* of {len(CONTENT)} bytes\nby hand"):
        download(server.url, path, None, "by hand")
    assert left(tmp_path) == [".file.zip.part", ".file.zip.version"]
    server.piece = 0
    assert download(server.url, path, None, "by hand").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"content": b""}, "nothing"),
        ({"content": b"", "status": 204}, r"no file there \(204 No Content\)"),
        ({"content": b"x", "status": 202}, r"no file there \(202 Accepted\)"),
        ({"content": b"<h1>Sign in</h1>", "kind": "text/html; charset=utf-8"}, "a web page instead of the file"),
        ({"content": b"\n<!DOCTYPE html><title>Busy"}, "a web page instead of the file"),
    ],
)
def test_an_answer_that_is_not_the_file_is_refused(serve, tmp_path, answer, reason):
    server, mirror = serve(content=answer.pop("content")), serve()
    for name, value in answer.items():
        setattr(server, name, value)
    with pytest.raises(InputError, match=rf"^{server.url} cannot be downloaded: .*{reason}\nby hand"):
        download(server.url, tmp_path / "file.zip", None, "by hand")
    assert left(tmp_path) == []
    assert download(server.url, tmp_path / "file.zip", None, "", [mirror.url]).read_bytes() == CONTENT


@pytest.mark.parametrize("broken", ["gone", "file.zip"])
def test_a_mirror_is_asked_where_the_file_is_not_to_be_had(serve, tmp_path, broken):
    server, mirror = serve(breaks=TRIES), serve()
    first = server.url.replace("file.zip", broken)
    assert download(first, tmp_path / "file.zip", MD5, "", [mirror.url]).read_bytes() == CONTENT
    with pytest.raises(InputError) as refused:
        download(first + "x", tmp_path / "other", MD5, "by hand", [mirror.url + "x"])
    assert [line.split()[0] for line in str(refused.value).splitlines()] == [first + "x", mirror.url + "x", "by"]


def test_a_mirror_is_asked_where_there_is_another_file(serve, tmp_path):
    server, mirror = serve(content=b"another"), serve()
    assert download(server.url, tmp_path / "file.zip", MD5, "", [mirror.url]).read_bytes() == CONTENT
    with pytest.raises(InputError) as refused:
        download(server.url, tmp_path / "other.zip", MD5, "by hand", [server.url])
    assert str(refused.value).splitlines() == [f"{server.url} is not the file with the MD5 checksum {MD5}"] * 2 + [
        "by hand"
    ]


def test_a_killed_download_leaves_its_part_and_nothing_else(serve, tmp_path):
    server = serve(content=CONTENT * 40, version='"one"')
    command = [sys.executable, "-c", ASKER, server.url, str(tmp_path / "file.zip"), "0" * 32]
    process = subprocess.Popen(command)
    while not any((tmp_path / ".file.zip.part").parent.glob(".file.zip.part")):
        assert process.poll() is None
    process.kill()
    process.wait()
    assert set(left(tmp_path)) <= {".file.zip.part", ".file.zip.version"}
    assert download(server.url, tmp_path / "file.zip", None, "").read_bytes() == CONTENT * 40
    assert left(tmp_path) == ["file.zip"]


def test_a_dead_address_says_what_to_do(serve, tmp_path):
    server = serve()
    with pytest.raises(InputError, match=r"404[\s\S]*by hand"):
        download(server.url.replace("file.zip", "gone"), tmp_path / "file.zip", MD5, "by hand")
    assert len(server.asked) == 1
    server.shutdown()
    server.server_close()
    with pytest.raises(InputError, match="by hand"):
        download(server.url, tmp_path / "file.zip", MD5, "by hand")


ASKER = """
import sys
from pathlib import Path
from sparseid.data.cars3d import files as cars3d
from sparseid.data.download import download
print(len(download(sys.argv[1], Path(sys.argv[2]), sys.argv[3], "").read_bytes()))
"""


def test_several_processes_download_once(serve, tmp_path):
    server = serve()
    command = [sys.executable, "-c", ASKER, server.url, str(tmp_path / "file.zip"), MD5]
    asked = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in asked] == [f"{len(CONTENT)}\n"] * 3
    assert server.asked == [None]


def zipped(**members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"folder/{name}", text)
    return content.getvalue()


def test_members_are_unpacked(tmp_path):
    archive = tmp_path / "a.zip"
    archive.write_bytes(zipped(one="1", two="2"))
    unpack(archive, {"folder/one": tmp_path / "there" / "one"})
    assert (tmp_path / "there" / "one").read_text() == "1"
    assert left(tmp_path / "there") == ["one"]


def test_a_release_of_movielens_is_downloaded_unpacked_and_then_there(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in ("ratings.csv", "movies.csv", "README.txt", "tags.csv"):
            archive.writestr(f"ml-latest-small/{name}", name)
    server = serve(content=content.getvalue())
    for _ in range(2):
        folder = fetch("ml-latest-small", server.url)
        assert folder == tmp_path / "movielens" / "ml-latest-small"
        assert left(folder) == ["README.txt", "movies.csv", "ratings.csv"]
        assert (folder / "ratings.csv").read_text() == "ratings.csv"
    assert len(server.asked) == 1
    with pytest.raises(InputError, match=r"6b51fb2759a8657d3bfcbfc42b592ada\n *By hand: get https://files.grouplens"):
        fetch("ml-25m", server.url)
    assert not (tmp_path / "movielens" / "ml-25m").exists()


def test_images_of_factors_are_downloaded_if_they_are_those_published(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    server = serve()
    for published in (shapes3d.PUBLISHED, cars3d.PUBLISHED, *mpi3d.PUBLISHED.values()):
        with pytest.raises(InputError, match=rf"checksum {published.md5}\n *By hand: get {published.url}"):
            published.fetch(server.url)
        assert not published.place().exists()
        asked = len(server.asked)
        for _ in range(2):
            assert replace(published, md5=MD5).fetch(server.url) == tmp_path / published.data_set / published.name
        assert published.place().read_bytes() == CONTENT
        assert len(server.asked) == asked + 1


def test_damaged_archives_are_deleted(tmp_path):
    whole = zipped(one="A" * 1000)
    for content in (whole[:-30], whole.replace(b"AAA", b"AAB", 1), zipped(two="2")):
        archive = tmp_path / "a.zip"
        archive.write_bytes(content)
        with pytest.raises(InputError, match="was not a complete zip file and was deleted"):
            unpack(archive, {"folder/one": tmp_path / "one"})
        assert not archive.exists()
        assert not (tmp_path / "one").exists()
