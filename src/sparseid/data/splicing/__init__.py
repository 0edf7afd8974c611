"""Pre-mRNA sequences labelled with splice sites, whose motifs are binding sites of proteins (Sparling, appendix M)."""
