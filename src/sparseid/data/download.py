"""Downloads that are whole or not there: checked, resumed where they broke off, made by one of several processes."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

from sparseid.data.cache import cached_file
from sparseid.errors import InputError

TRIES = 3
"""Connections that are made before a download is given up; the next command goes on from where they came to."""
TIMEOUT_S = 30
CHUNK = 2**16
"""Bytes that are written at a time."""


def download(url: str, path: Path, md5: str | None, instead: str) -> Path:
    """Return a file, downloaded if it is not there; several processes may ask at once, one of them downloads.

    What has come before a connection breaks is kept beside it, and the next try asks for the rest.

    Parameters
    ----------
    url, md5
        Where it is, and its checksum; None where none is published.
    path
        Where it should lie.
    instead
        What to do by hand if it cannot be downloaded.

    Raises
    ------
    InputError
        If it cannot be downloaded, or is not what its checksum says.
    """

    def make(target: Path) -> None:
        import pooch
        import requests

        pooch.get_logger().setLevel(logging.ERROR)  # it would tell what its hash is
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
            except (OSError, requests.RequestException) as error:  # broken off, or not reached
                if not left or _refused(error):
                    raise InputError(f"{url} cannot be downloaded: {error}\n{instead}") from error
            except ValueError as error:  # the checksum is another one
                raise InputError(f"{url} is not the file with the MD5 checksum {md5}\n{instead}") from error

    return cached_file(path, make)


def _fetch(url: str, file: Path, part: Path) -> None:
    """Write what `url` offers to a file; `part` holds what an earlier try has got of it."""
    import requests

    have = part.stat().st_size if part.is_file() else 0
    asked = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {"Accept-Encoding": "identity"}
    with requests.get(url, headers=asked, stream=True, timeout=TIMEOUT_S) as response:
        if have and response.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink()  # it is longer than the file: not the same file
            raise OSError("what was there of it is longer than it")
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        with part.open("ab" if resumed else "wb") as target:
            for chunk in response.iter_content(CHUNK):
                target.write(chunk)
    part.replace(file)


def _refused(error: Exception) -> bool:
    """Whether the server has answered that there is no such file: asking again would not help."""
    response = getattr(error, "response", None)
    return response is not None and 400 <= response.status_code < 500


def unpack(archive: Path, members: dict[str, Path]) -> None:
    """Write files of a zip archive where they should lie, each whole or not at all.

    Parameters
    ----------
    archive
        The zip file.
    members
        Name in the archive -> where it should lie; what is there already stays.

    Raises
    ------
    InputError
        If it is no zip file, has no such member, or is damaged: it is then deleted, to be downloaded anew.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for name, path in members.items():
                cached_file(path, lambda target, name=name: _write(opened, name, target))  # type: ignore[misc]
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        archive.unlink()
        raise InputError(f"{archive} was no whole zip file and is deleted ({error}): ask for it again") from error


def _write(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    with archive.open(name) as source, target.open("wb") as file:
        while chunk := source.read(CHUNK):
            file.write(chunk)  # the checksum of the member is compared at its end
