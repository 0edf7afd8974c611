"""The names that ``import sparseid`` offers."""

import ast
import doctest
import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sparseid

STUB = ast.parse(Path(sparseid.__file__).with_name("__init__.pyi").read_text())
PLACES = {name.name: node.module for node in STUB.body if isinstance(node, ast.ImportFrom) for name in node.names}

INDEX = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_package_is_imported_without_its_dependencies():
    code = (
        "import sys, sparseid; print([name for name in ('torch', 'numpy', 'pandas', 'hydra') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_public_name_is_documented_and_listed_in_the_packages_help():
    assert sorted(sparseid.__all__) == sorted(PLACES)
    described = set(re.findall(r"\w+", sparseid.__doc__))
    assert described >= set(sparseid.__all__)


@pytest.mark.parametrize("name", sorted(PLACES))
def test_a_public_name_is_what_its_module_defines_and_has_a_docstring(name):
    value = getattr(sparseid, name)
    assert value.__module__.startswith("sparseid.")
    assert inspect.getdoc(value)
    assert not name.startswith("_")


@pytest.mark.parametrize("name", sorted(PLACES))
def test_a_public_name_has_an_example_that_is_run_and_stands_in_the_index(name):
    examples = doctest.DocTestFinder(recurse=False).find(getattr(sparseid, name), name)[0].examples
    assert examples
    assert not any(doctest.SKIP in example.options for example in examples)
    summary = inspect.getdoc(getattr(sparseid, name)).splitlines()[0]
    assert f"### `{name}`\n\n{summary}\n\n```python\n>>> {examples[0].source.splitlines()[0]}\n" in INDEX


def test_the_packages_help_describes_layers_losses_metrics_and_loaders():
    page = pydoc.render_doc(sparseid, renderer=pydoc.plaintext)
    for name in ("SparseLayer", "info_nce", "mcc", "attribution_map", "load_run"):
        assert re.search(rf"\b{name}\b.*\(", page), name
    assert "Layers\n" in page


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No sparseid attribute no_such_layer"):
        _ = sparseid.no_such_layer
