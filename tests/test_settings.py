"""Fields that document and check themselves."""

import math
import re
from dataclasses import dataclass, fields, is_dataclass
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.config.components import settings_classes
from sparseid.config.schema import RunConfig
from sparseid.settings import MISSING, Settings, SettingsError, field_errors, range_text, setting, settings_errors

BOUNDS = st.fixed_dictionaries(
    {}, optional={name: st.integers(-5, 5) for name in ("at_least", "above", "at_most", "below")}
).filter(bool)


@dataclass
class Inner:
    rate: float = setting("A rate.", default=0.5, above=0, below=1)


@dataclass
class Outer(Settings):
    size: int = setting("A size.", at_least=1, because="nothing is empty")
    kind: str = setting("A kind.", default="round", choices=("round", "square"))
    sizes: list[int] = setting("Sizes.", default=[1, 2])
    inner: Inner = setting("More.", default=Inner)

    def errors(self, run):
        if self.size > run:
            yield SettingsError(("data.size",), "too large")


def test_a_field_keeps_what_is_said_of_it():
    size, kind, *_ = fields(Outer)
    assert size.metadata["text"] == "A size."
    assert size.default == MISSING
    assert kind.metadata["choices"] == ("round", "square")
    assert "file" not in kind.metadata
    assert setting("A file.", file=True).metadata["file"]


NAMES_NO_PATH = {("RunConfig", "paper")}  # the name of a folder within the folder of runs


def test_every_setting_that_names_a_file_or_folder_knows_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    words = re.compile(r"(?i)\b(file|folder|path|checkout)\b")
    schemas, expanded = [RunConfig, *settings_classes("data").values(), *settings_classes("method").values()], set()
    for schema in schemas:  # grows by nested ones
        hints = get_type_hints(schema)
        schemas += [kind for kind in hints.values() if is_dataclass(kind)]
        given = {field.name: 1 for field in fields(schema) if field.default == MISSING}
        for field in fields(schema):
            names_a_path = hints[field.name] is str and words.search(field.metadata.get("text", ""))
            if names_a_path and not field.metadata["choices"] and (schema.__name__, field.name) not in NAMES_NO_PATH:
                assert getattr(schema(**given | {field.name: "~/x"}), field.name) == "/home/me/x", (schema, field.name)
                expanded.add((schema.__name__, field.name))
    assert ("CorpusSettings", "path") in expanded
    assert len(expanded) >= 10


def test_instances_share_no_default():
    one, other = Outer(size=1), Outer(size=1)
    one.sizes.append(3)
    one.inner.rate = 0.1
    assert other.sizes == [1, 2]
    assert other.inner == Inner()


@given(st.one_of(st.floats(), st.integers(-10, 10)), BOUNDS)
def test_a_number_is_refused_exactly_outside_its_bounds(value, bounds):
    @dataclass
    class One:
        number: float = setting("A number.", **bounds)

    inside = (
        math.isfinite(value)
        and value >= bounds.get("at_least", -math.inf)
        and value > bounds.get("above", -math.inf)
        and value <= bounds.get("at_most", math.inf)
        and value < bounds.get("below", math.inf)
    )
    found = list(field_errors(One(value), "data."))
    assert found == [] if inside else found == [(("data.number",), f"data.number must be {range_text(bounds)}")]


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"at_least": 0}, "at least 0"),
        ({"above": 0}, "above 0"),
        ({"at_least": 0, "at_most": 1}, "between 0 and 1"),
        ({"above": 0, "below": 1}, "strictly between 0 and 1"),
        ({"at_least": -1, "below": 1}, "at least -1 and below 1"),
        ({"above": 0, "at_most": 1}, "above 0 and at most 1"),
    ],
)
def test_ranges_in_words(bounds, text):
    assert range_text(bounds) == text


def test_nested_fields_have_dotted_keys():
    wrong = Outer(size=1, kind="sqare", inner=Inner(rate=math.nan))
    assert list(field_errors(wrong, "data.")) == [
        (("data.kind",), "data.kind must be round or square; did you mean: square"),
        (("data.inner.rate",), "data.inner.rate must be strictly between 0 and 1"),
    ]
    assert [keys for keys, _ in field_errors(wrong, "data.", nested=False)] == [("data.kind",)]


def test_rules_are_asked_where_every_field_is_in_its_range():
    assert settings_errors(Outer(size=0), "data.", -1) == [
        (("data.size",), "data.size must be at least 1: nothing is empty")
    ]
    assert settings_errors(Outer(size=3), "data.", 2) == [(("data.size",), "too large")]
    assert settings_errors(Outer(size=3), "data.", 3) == []
