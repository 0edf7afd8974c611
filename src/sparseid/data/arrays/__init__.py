"""User-provided time series: observations and labels in an npz file."""
