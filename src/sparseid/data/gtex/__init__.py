"""Gene expression of single cells: cell types as environments on their dendrogram (TBR, section 4.1)."""
