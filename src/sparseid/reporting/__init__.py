"""From the rows of finished runs to tables, figures, verdicts and one page."""
