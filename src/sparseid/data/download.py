"""Atomic downloads: checked, resumed after an interruption, and done by one of several processes."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

from sparseid.data.cache import cached_file
from sparseid.errors import InputError

TRIES = 3
"""Number of connections before a download fails; the next command resumes it."""
TIMEOUT_S = 30
CHUNK = 2**16
"""Bytes written at a time."""


def download(url: str, path: Path, md5: str | None, instead: str) -> Path:
    """Return a file, downloaded if missing; of several concurrent processes one downloads.

    The part received before a connection breaks is stored next to the file, and the next attempt requests the rest.

    Parameters
    ----------
    url, md5
        Address of the file, and its checksum or None if none is published.
    path
        Destination.
    instead
        Manual alternative, for the error message.

    Raises
    ------
    InputError
        If it cannot be downloaded, or its checksum differs.
    """

    def make(target: Path) -> None:
        import pooch
        import requests

        pooch.get_logger().setLevel(logging.ERROR)  # silences its message about the hash
        part = path.with_name(f".{path.name}.part")
        for left in reversed(range(TRIES)):
            try:
                pooch.retrieve(
                    url,
                    known_hash=md5 and f"md5:{md5}",
                    fname=target.name,
                    path=target.parent,
                    downloader=lambda url, file, _: _fetch(url, Path(file), part),
                )
                return
            except (OSError, requests.RequestException) as error:  # interrupted, or not reached
                if not left or _refused(error):
                    raise InputError(f"{url} cannot be downloaded: {error}\n{instead}") from error
            except ValueError as error:  # another checksum
                raise InputError(f"{url} is not the file with the MD5 checksum {md5}\n{instead}") from error

    return cached_file(path, make)


def _fetch(url: str, file: Path, part: Path) -> None:
    """Write the content of `url` to a file; `part` holds the bytes of an earlier attempt."""
    import requests

    have = part.stat().st_size if part.is_file() else 0
    asked = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {"Accept-Encoding": "identity"}
    with requests.get(url, headers=asked, stream=True, timeout=TIMEOUT_S) as response:
        if have and response.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink()  # longer than the file: not the same file
            raise OSError("the partial download is longer than the file")
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        with part.open("ab" if resumed else "wb") as target:
            for chunk in response.iter_content(CHUNK):
                target.write(chunk)
    part.replace(file)


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
