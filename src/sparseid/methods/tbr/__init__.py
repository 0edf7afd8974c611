"""Tree-based regularization (TBR): latents from many environments on a tree."""
