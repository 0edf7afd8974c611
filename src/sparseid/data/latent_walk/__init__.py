"""Time series of latents on a random walk in a box, mixed into observations (RegCL, section 3)."""
