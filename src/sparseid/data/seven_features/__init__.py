"""Seven features of two correlated Gaussian factors."""
