"""Many small models trained as one: layers, batches, best states with a leading member axis."""
