"""Sparse autoencoders of a transformer's MLP: TopK, BatchTopK and the Jacobian pair."""
