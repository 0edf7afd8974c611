import os

import pytest

from sparseid import STARTED
from sparseid.papers.fingerprint import fingerprint, of_code, of_files


@pytest.fixture
def package(tmp_path):
    """A package whose files are older than this process: a module beside two packages, one with rows kept in git."""
    for name in ("files.py", "config/schema.py", "papers/claims.py", "papers/tbr/measured/rows.json"):
        _write(tmp_path / name, name)
    return tmp_path


def _write(path, text, later=-1.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (STARTED + later,) * 2)


def _code(package, *names, libraries=()):
    of_code.cache_clear()
    return of_code(names, libraries, package)


def test_a_fingerprint_is_that_of_the_values_whatever_the_order_of_keys():
    assert fingerprint({"a": 1, "b": [2.5]}) == fingerprint({"b": [2.5], "a": 1})
    assert fingerprint([1, 2]) != fingerprint([2, 1])
    assert len(fingerprint()) == 64


def test_names_and_contents_of_files_count_and_what_is_made_from_them_or_explains_them_does_not(tmp_path):
    _write(tmp_path / "at" / "a.yaml", "x")
    first = of_files(tmp_path)
    _write(tmp_path / "__pycache__" / "a.pyc", "made")
    _write(tmp_path / ".hidden", "made")
    _write(tmp_path / "README.md", "explained")
    assert of_files(tmp_path) == first
    _write(tmp_path / "at" / "a.yaml", "y")
    assert of_files(tmp_path) != first
    _write(tmp_path / "at" / "a.yaml", "x")
    assert of_files(tmp_path) == first
    (tmp_path / "at" / "a.yaml").rename(tmp_path / "at" / "b.yaml")
    assert of_files(tmp_path) != first


def test_code_counts_where_it_is_named_or_may_be_imported_by_all(package):
    config, papers = _code(package, "config"), _code(package, "papers")
    assert _code(package, "config") == config != papers
    _write(package / "papers" / "tbr" / "measured" / "rows.json", "further rows")
    assert _code(package, "papers") == papers
    _write(package / "papers" / "claims.py", "changed")
    assert (_code(package, "config"), _code(package, "papers") == papers) == (config, False)
    _write(package / "files.py", "changed")
    assert _code(package, "config") != config
    assert _code(package, "config", libraries=("numpy",)) != _code(package, "config")


def test_code_that_was_changed_while_it_runs_is_nobody_elses(package):
    _write(package / "config" / "schema.py", "config/schema.py", later=1.0)
    first, again = _code(package, "config"), of_code(("config",), (), package)
    assert first == again
    assert _code(package, "config") != first
