"""Atomic downloads: checked, resumed after an interruption, and done by one of several processes."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparseid.data.cache import cached_file, digest
from sparseid.errors import InputError

TRIES = 3
"""Number of connections before a download fails; the next command resumes it."""
TIMEOUT_S = 30
PAGES = (b"<!doctype html", b"<html")
"""Beginnings of web pages."""
CHUNK = 2**16
"""Bytes written at a time."""


def download(url: str, path: Path, md5: str | None, instead: str, mirrors: Sequence[str] = ()) -> Path:
    """Return a file, downloaded if missing; of several concurrent processes one downloads.

    The part received before a connection breaks is stored next to the file, and the next attempt requests the rest, if
    a checksum or the server (its ``ETag`` or date of the file) can tell that both belong together.

    Parameters
    ----------
    url, md5
        Address of the file, and its checksum or None if none is published.
    path
        Destination.
    instead
        Manual alternative, for the error message.
    mirrors
        Addresses of copies, asked in turn if there is no file at `url`, or another one.

    Raises
    ------
    InputError
        If it cannot be downloaded, its checksum differs or, without one, the server sends too little or a web page.
    """

    def make(target: Path) -> None:
        failures = []
        for address in (url, *mirrors):
            try:
                return _receive(address, path.with_name(f".{path.name}.part"), md5, target)
            except ValueError:
                failures.append(f"{address} is not the file with the MD5 checksum {md5}")
            except OSError as error:  # interrupted or not reached; exceptions of requests are OSErrors, too
                failures.append(f"{address} cannot be downloaded: {error}")
        raise InputError("\n".join([*failures, instead]))

    return cached_file(path, make)


def unchecked(path: Path) -> str:
    """Return the notice for a downloaded file without a published checksum."""
    return f"{path.name} has no published checksum: compare its SHA-256 with a colleague's: {digest(path)}"


def _receive(url: str, part: Path, md5: str | None, target: Path) -> None:
    """Download a file in at most `TRIES` connections; OSError if they fail, ValueError if its checksum differs."""
    for left in reversed(range(TRIES)):
        try:
            resumed = _fetch(url, part, md5)
        except OSError as error:
            if not left or _refused(error):
                raise
            continue
        _mark(part).unlink(missing_ok=True)
        if md5 is None or _md5(part) == md5:
            part.replace(target)
            return
        part.unlink()
        if not resumed or not left:  # otherwise it was the rest of another file
            raise ValueError(url)


def _fetch(url: str, part: Path, md5: str | None) -> bool:
    """Write the content of `url` to `part`, which holds the bytes of an earlier attempt; return if they were used."""
    import requests

    mark, version, size = _mark(part), "", ""
    if mark.is_file():
        address, version, size, *_ = [*mark.read_text(encoding="utf-8").split("\n"), "", ""]
        version, size = (version, size) if address == url else ("", "")
    have = part.stat().st_size if part.is_file() and (md5 or version) else 0
    asked = {"Accept-Encoding": "identity"}
    if have:
        asked |= {"Range": f"bytes={have}-"} | ({"If-Range": version} if version else {})
    with requests.get(url, headers=asked, stream=True, timeout=TIMEOUT_S) as response:
        if have and response.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink()  # longer than the file: not the same file
            raise OSError("the partial download is longer than the file")
        response.raise_for_status()
        if response.status_code not in (requests.codes.ok, requests.codes.partial_content):
            raise OSError(f"the server has no file there ({response.status_code} {response.reason})")
        resumed = response.status_code == requests.codes.partial_content
        tag = response.headers.get("ETag", "")
        sent = tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")
        if resumed:
            span, _, total = response.headers.get("Content-Range", "").partition("/")
            begun = size or total
            if not span.startswith(f"bytes {have}-") or sent != (version or sent) or total not in ("*", begun):
                part.unlink()  # servers and caches may send part of another version, or another part
                raise OSError("the rest that the server sends does not belong to the partial download")
        else:
            begun = response.headers.get("Content-Length", "")
        mark.unlink(missing_ok=True)
        with part.open("ab" if resumed else "wb") as target:
            if sent:
                mark.write_text(f"{url}\n{sent}\n{begun}", encoding="utf-8")
            for chunk in response.iter_content(CHUNK):
                target.write(chunk)
    if md5 is None:  # which would tell
        _refuse_other_content(part, "" if "Content-Encoding" in response.headers else begun, response.headers)
    return resumed


def _refuse_other_content(part: Path, size: str, headers: Mapping[str, str]) -> None:
    """Refuse a part of the file, or a page about an error, for the whole; OSError.

    Parameters
    ----------
    part
        What was received.
    size
        Number of bytes of the whole; another text if it is unknown.
    headers
        Of the answer.
    """
    have = part.stat().st_size
    with part.open("rb") as file:
        head = file.read(100).lstrip().lower()
    if size.isdigit() and have < int(size):  # what is missing is requested next
        raise OSError(f"the server sends {have} of {size} bytes")
    problem = "nothing" if have == 0 else f"{have} bytes, not {size}" if size.isdigit() and have != int(size) else ""
    if headers.get("Content-Type", "").startswith("text/html") or head.startswith(PAGES):
        problem = "a web page instead of the file"
    if problem:
        part.unlink()
        raise OSError(f"the server sends {problem}")


def _mark(part: Path) -> Path:
    """Return the file with the address of a partial download, the server's mark of its version, and the file's size."""
    return part.with_suffix(".version")


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def _refused(error: Exception) -> bool:
    """Return whether the server has answered that the file does not exist, so that a retry is pointless."""
    response = getattr(error, "response", None)
    return response is not None and 400 <= response.status_code < 500


def unpack(archive: Path, members: dict[str, Path]) -> None:
    """Extract files of a zip archive to their destinations, each atomically.

    Parameters
    ----------
    archive
        The zip file.
    members
        Name in the archive -> destination; existing files are not replaced.

    Raises
    ------
    InputError
        If it is not a zip file, lacks a member, or is damaged: it is then deleted, to be downloaded again.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for name, path in members.items():
                cached_file(path, lambda target, name=name: _write(opened, name, target))  # type: ignore[misc]
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        archive.unlink()
        raise InputError(f"{archive} was not a complete zip file and was deleted ({error}): try again") from error


def _write(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    with archive.open(name) as source, target.open("wb") as file:
        while chunk := source.read(CHUNK):
            file.write(chunk)  # the member's checksum is compared at its end
