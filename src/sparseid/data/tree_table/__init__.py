"""User-provided samples of several environments on a tree, with a label to predict."""
