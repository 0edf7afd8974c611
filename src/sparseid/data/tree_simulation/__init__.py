"""Labels linear in latents, with weights that change along a tree of environments (TBR, section 4)."""
