"""The Sparse VAE and what it is compared with: VAE and beta-VAE, VSC, OI-VAE and NMF."""
