"""Download and check data, or print how to obtain them (make data DATASETS="gtex movielens").

Settings are environment variables: make data DATASETS=gtex GTEX_H5AD=/path/to/it
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator

from sparseid.config.components import settings_classes
from sparseid.errors import InputError
from sparseid.extensions import load_object
from sparseid.printing import protect_output


def data_sets() -> dict[str, Callable[[], Iterator[str]]]:
    """Return the functions that obtain or check data, by name; each data set says itself which it is."""
    places = {getattr(settings, "obtained_by", ""): settings for settings in settings_classes("data").values()}
    return {place.rpartition(":")[2]: load_object(place, places[place]) for place in sorted(filter(None, places))}


def main() -> int:
    """Process the requested data sets; return 2 if one cannot be used."""
    known = data_sets()
    docs = "\n".join(f"  {name}\n{textwrap.indent(inspect.getdoc(known[name]) or '', ' ' * 4)}" for name in known)
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"data sets:\n{docs}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+", choices=sorted(known), metavar="dataset", help=", ".join(known))
    for name in parser.parse_args().datasets:
        try:
            for line in known[name]():
                print(line, flush=True)
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
