"""A test that needs a program is skipped without it, but fails where the program has to be there."""

import pytest

MISSING = "no-such-program"


@pytest.mark.parametrize("required", ["", "chromium", f"{MISSING}-2, chromium"])
def test_skipped_without_the_program(require_program, monkeypatch, required):
    monkeypatch.setenv("SPARSEID_REQUIRE", required)
    with pytest.raises(pytest.skip.Exception, match=f"{MISSING} is not installed"):
        require_program(MISSING)


@pytest.mark.parametrize("required", [MISSING, f"chromium,{MISSING}", f"{MISSING} chromium", f"chromium, {MISSING}"])
def test_fails_where_it_must_be_there(require_program, monkeypatch, required):
    monkeypatch.setenv("SPARSEID_REQUIRE", required)
    with pytest.raises(pytest.fail.Exception, match="SPARSEID_REQUIRE says that it must be"):
        require_program(MISSING)


def test_path_of_an_installed_program(require_program):
    assert require_program("sh").endswith("/sh")
