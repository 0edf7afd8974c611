"""A time series whose latents walk at random in a box, and how they are mixed into observations (RegCL, section 3)."""
