"""Write the SHA-256 of every file of each pinned package into requirements.lock: make lock.

To change a version, edit its pin and run this. The hashes are those that pip's index lists for all platforms and Python
versions; ``make setup`` installs nothing else.
"""

import re
import sys
from pathlib import Path

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version
from pip._internal.commands import create_command  # pip has no public way to list an index's files
from pip._internal.index.collector import parse_links
from pip._internal.models.link import Link

from sparseid.printing import protect_output

LOCK = Path(__file__).parents[1] / "requirements.lock"
PIN = re.compile(r"^([\w.-]+)==([\w.]+)([^\\\n]*)", re.MULTILINE)
"""A pinned package: its name, its version and a marker of the platforms that need it."""


def files_of(names: list[str]) -> dict[str, list[Link]]:
    """Return the files of each package on pip's index, with the user's settings of pip."""
    command = create_command("index")
    options, _ = command.parse_args(["versions", "pip"])
    with command.main_context():
        finder = command._build_package_finder(options, command._build_session(options))  # type: ignore[attr-defined]
        found: dict[str, list[Link]] = {name: [] for name in names}
        for name in names:
            for source in finder._link_collector.collect_sources(name, lambda page: []).index_urls:
                page = source and source.link and finder._link_collector.fetch_response(source.link)
                if page:
                    found[name] += [link for link in parse_links(page) if link.scheme.startswith("http")]
    return found


def version_of(file: str) -> Version | None:
    """Return the version in the name of a wheel or source archive; None for other files."""
    try:
        return parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def main() -> int:
    text = LOCK.read_text(encoding="utf-8")
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    pins = sorted(PIN.findall(text), key=lambda pin: pin[0].lower())
    files = files_of([name for name, _, _ in pins])
    blocks = []
    for name, version, marker in pins:
        mine = (link for link in files[name] if version_of(link.filename) == Version(version))
        hashes = sorted({link.hash for link in mine if link.hash_name == "sha256" and link.hash})
        if not hashes:
            print(f"error: the index has no file of {name} {version}", file=sys.stderr)
            return 1
        lines = [f"{name}=={version}{marker.rstrip()}", *(f"--hash=sha256:{digest}" for digest in hashes)]
        blocks.append(" \\\n    ".join(lines) + "\n")
    LOCK.write_text(head + "".join(blocks), encoding="utf-8")
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
