"""Binary ratings of the most popular films by users (MovieLens, or synthetic ratings of low rank)."""
