"""Diverse Dictionary Learning: latents identified through which observations depend on which of them."""
