"""Sparse VAE: identifiable deep generative models via sparse decoding."""
