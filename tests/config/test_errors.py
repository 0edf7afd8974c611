from sparseid.errors import ConfigError


def test_message_names_problem_source_and_hint_in_this_order():
    error = ConfigError("unknown key sed", source="command line: sed=1", hint="did you mean: seed")
    assert str(error).splitlines() == ["unknown key sed", "  from: command line: sed=1", "  did you mean: seed"]
    assert str(ConfigError("no")) == "no"
