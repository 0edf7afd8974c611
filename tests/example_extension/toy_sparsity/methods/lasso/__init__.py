"""The lasso."""
