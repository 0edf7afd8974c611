"""Tables, figures, verdicts and pages from the rows of finished runs."""

from pathlib import Path

PAGE = Path("report") / "index.html"
"""Start page, relative to the folder of runs."""
