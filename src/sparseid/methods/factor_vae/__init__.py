"""FactorVAE, with the penalties that Diverse Dictionary Learning compares on images."""
