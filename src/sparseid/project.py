"""Places of the project's files: in a checkout, or in the installed package."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

CONFIGS = (PACKAGE / "configs").resolve()
"""The project's own YAML files; in a checkout the package has a link to them."""

CHECKOUT = None if CONFIGS.parent == PACKAGE else CONFIGS.parent
"""Root of the checkout that this package is imported from; None if it is installed (``pip install .``)."""

SAMPLES = (PACKAGE / "data" / "samples").resolve()
"""Small data sets that are part of the project; in a checkout the package has a link to them."""
