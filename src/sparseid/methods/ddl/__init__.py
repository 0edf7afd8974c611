"""Diverse Dictionary Learning: identification of latents by the dependency structure of the observations."""
