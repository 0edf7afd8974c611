"""Sparling: motifs through extreme activation sparsity (Gupta, Bastani and Solar-Lezama)."""
