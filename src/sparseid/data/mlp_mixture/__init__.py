"""Mixtures of latents by masked networks, one per observation: the support of the Jacobian is a given mask."""
