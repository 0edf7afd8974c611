"""Execute the tutorials and write them as notebooks with their output: make tutorials.

docs/tutorials/NAME.py is what is edited; docs/tutorials/NAME.ipynb is written from it. Commit both.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import jupytext
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from sparseid.files import replace_file
from sparseid.printing import protect_output

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
WARNING = re.compile(r"^/\S+:\d+: (\w+: .*)\n(?:  .*\n)?", re.M)
"""A warning as Python shows it: the file and line of the cell, which are others each time, and that line's code."""


def execute(script: Path) -> None:
    """Write a tutorial as a notebook with the output of its cells; what it writes to disk itself is discarded."""
    book = jupytext.read(script)
    book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(book, timeout=None, resources={"metadata": {"path": folder}}, record_timing=False)
        client.execute()
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number}"  # a random one would differ in each execution
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                output.text = WARNING.sub(r"\1\n", output.text)
    book.metadata.pop("language_info", None)
    content = jupytext.writes(book, fmt="ipynb") + "\n"
    replace_file(script.with_suffix(".ipynb"), lambda file: file.write(content.encode()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [script.stem for script in sorted(FOLDER.glob("*.py"))]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all, {', '.join(names)}")
    chosen = parser.parse_args().names or names
    if unknown := sorted(set(chosen) - set(names)):
        parser.error(f"no tutorial {unknown[0]}: choose of {', '.join(names)}")
    for name in chosen:
        try:
            execute(FOLDER / f"{name}.py")
        except CellExecutionError as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            return 1
        print(f"docs/tutorials/{name}.ipynb")
    return 0


if __name__ == "__main__":
    protect_output()
    os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"  # of tqdm, which would like widgets
    sys.exit(main())
