"""Which of the most popular films a user rated well (MovieLens, or ratings of low rank made here)."""
