"""The Sparse VAE and its baselines: VAE and beta-VAE, VSC, OI-VAE and NMF."""
