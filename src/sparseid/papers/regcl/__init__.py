"""RegCL: identifiable attribution maps using regularised contrastive learning."""
