"""User-provided observations of unknown latents."""
