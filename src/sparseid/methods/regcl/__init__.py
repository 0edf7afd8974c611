"""RegCL: contrastive learning with a Jacobian penalty, whose encoder has identifiable attribution maps."""
