"""From the rows of finished runs to tables, figures, verdicts and one page."""

from pathlib import Path

PAGE = Path("report") / "index.html"
"""Where the page lies below the folder of runs."""
