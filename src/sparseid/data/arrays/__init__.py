"""A user's own time series: observations and labels in an npz file."""
