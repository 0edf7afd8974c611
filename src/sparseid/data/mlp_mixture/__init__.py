"""Latents mixed by masked networks, one per observation: the support of the mixture's Jacobian is a given mask."""
