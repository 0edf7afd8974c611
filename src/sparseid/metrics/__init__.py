"""Pure functions on arrays: what the papers measure."""
