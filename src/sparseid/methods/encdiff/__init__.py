"""EncDiff: image encoder and latent diffusion, whose cross-attention reads one token per unit of the code."""
