"""Gene expression of 3,005 cells of the mouse cortex in seven classes (Zeisel et al. 2015)."""
