"""Stacks of small models trained as one: layers, batches and best states with a leading member axis."""
