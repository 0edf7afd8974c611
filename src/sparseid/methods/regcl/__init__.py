"""RegCL: contrastive learning with a Jacobian penalty, from whose encoder attribution maps can be identified."""
