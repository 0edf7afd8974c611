"""Check data that you have placed, and say what to place where (make data DATASETS=gtex)."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from sparseid.errors import InputError


def gtex() -> Iterator[str]:
    """Check the atlas at $GTEX_H5AD and the table at $TF_TARGETS; without an atlas say how to get it."""
    from sparseid.data.gtex.check import check_atlas
    from sparseid.data.gtex.sources import atlas_path

    table = os.environ.get("TF_TARGETS")
    path = atlas_path("")
    yield from check_atlas(path, Path(table) if table else None, os.environ.get("TF_LAYOUT", "htftarget"))
    if not table:
        yield "no table of transcription factors checked: add TF_TARGETS=/path (and TF_LAYOUT=dorothea where it is)"
    factors = table or "/path/to/the/table"
    yield f"use: GTEX_H5AD={path} python run.py experiment=tbr/fig5a data.source=atlas data.tf_targets={factors}"


DATASETS: dict[str, Callable[[], Iterator[str]]] = {"gtex": gtex}


def main() -> int:
    """Go through the data sets asked for; 2 if one cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", choices=sorted(DATASETS), metavar="dataset", help=", ".join(DATASETS))
    for name in parser.parse_args().datasets:
        try:
            for line in DATASETS[name]():
                print(line, flush=True)
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
