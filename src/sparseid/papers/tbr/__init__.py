"""TBR: sparsity regularisation via tree-structured environments for disentangled representations."""
