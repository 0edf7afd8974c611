"""User-provided matrices of counts or of real values."""
