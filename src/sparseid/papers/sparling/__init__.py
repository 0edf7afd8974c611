"""Sparling: end-to-end spatial concept learning via extremely sparse activations."""
