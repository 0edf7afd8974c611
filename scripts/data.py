"""Check data that you have placed, and say what to place where (make data DATASETS=gtex)."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator

from sparseid.errors import InputError


def gtex() -> Iterator[str]:
    """Check the atlas at $GTEX_H5AD and the table at $TF_TARGETS; where one is absent say how to get it."""
    from sparseid.data.gtex.check import check_atlas
    from sparseid.data.gtex.sources import atlas_path, atlas_table_path

    path = atlas_path("")
    try:
        table = atlas_table_path("")
    except InputError:
        yield from check_atlas(path)  # the atlas can be looked at without
        raise
    yield from check_atlas(path, table, os.environ.get("TF_LAYOUT", "htftarget"))
    yield f"use: GTEX_H5AD={path} TF_TARGETS={table} python run.py experiment=tbr/fig5a scale=paper"


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
