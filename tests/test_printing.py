"""Output that cannot be written as it is: another encoding, no reader, no stream, a full disk."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sparseid.printing import protect_output

PROJECT = Path(__file__).resolve().parents[1]
PROGRAMS = [PROJECT / "run.py", *(PROJECT / "scripts").rglob("*.py"), *(PROJECT / "src").rglob("*.py")]
OTHERS = ["loggers.py"]  # has no standard output of its own
SAYS = """
import sys
from sparseid.printing import protect_output
protect_output()
print("\\N{MINUS SIGN}0.3 \\N{PLUS-MINUS SIGN} 0.1, 1\\N{EN DASH}2 \\N{EURO SIGN}")
print("\\N{EURO SIGN}", file=sys.stderr)
"""


def run(code, **popen):
    environment = {**os.environ, **popen.pop("env", {})}
    return subprocess.run([sys.executable, "-c", code], env=environment, text=True, **popen)


@pytest.mark.parametrize("encoding", ["ascii", "ascii:strict"])
def test_characters_that_the_encoding_does_not_have_are_spelled(encoding):
    done = run(SAYS, env={"PYTHONIOENCODING": encoding}, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "-0.3 +/- 0.1, 1-2 \\u20ac\n", "\\u20ac\n")


def test_characters_that_it_has_stay():
    done = run(SAYS, env={"PYTHONIOENCODING": "utf-8"}, capture_output=True, encoding="utf-8")
    assert done.stdout == "\N{MINUS SIGN}0.3 \N{PLUS-MINUS SIGN} 0.1, 1\N{EN DASH}2 \N{EURO SIGN}\n"


@pytest.mark.parametrize("options", ["", "-u "])
@pytest.mark.parametrize("end", ["| true", ">&-", ">&- 2>&- <&-", "> /dev/full", "> /dev/full 2>&1"])
def test_what_has_no_reader_is_lost_without_an_error(end, options):
    if "/dev/full" in end and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    many = SAYS + "for n in range(9999): print(n)\nsys.exit(3)"
    shell = f"(exec '{sys.executable}' {options}-c \"$SAYS\"; ) {end}; echo ${{PIPESTATUS[0]}} >&9"
    read, write = os.pipe()
    done = subprocess.run(
        ["bash", "-c", f"exec 9>&{write}; {shell}"],
        env={**os.environ, "SAYS": many, "PYTHONIOENCODING": "utf-8"},
        pass_fds=[write],
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    with os.fdopen(read) as code:
        assert code.read() == "3\n"
    assert done.stderr in ("", "\N{EURO SIGN}\n")


def test_a_closed_stream_is_not_given_to_the_next_file(tmp_path):
    code = f"""
import os, sys
from sparseid.printing import protect_output
protect_output()
file = open({str(tmp_path / "data")!r}, "w")
os.write(1, b"from C code")
sys.exit(not (file.fileno() > 2 and os.get_inheritable(1)))
"""
    done = subprocess.run(["bash", "-c", 'exec "$0" -c "$1" >&- <&-', sys.executable, code])
    assert done.returncode == 0
    assert (tmp_path / "data").read_text() == ""


def test_a_pipe_without_room_is_waited_for():
    code = "import os; os.set_blocking(1, False)" + SAYS + "for n in range(99999): print(n)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        time.sleep(1)  # more than a pipe holds is written meanwhile
        assert process.stdout.read().split()[-1] == b"99998"
    assert process.returncode == 0


def test_a_stream_that_is_read_by_other_means_stays(capsys):
    before = sys.stdout
    protect_output()
    assert sys.stdout is before


def test_every_program_protects_its_output():
    protected = "protect_output()", "from sparseid.__main__ import run"
    programs = {path: text for path in PROGRAMS if "__main__" in (text := path.read_text())}
    found = {path.name for path, text in programs.items() if not any(words in text for words in protected)}
    assert found - {*OTHERS} == set()
