"""Word counts of abstracts of papers (PeerRead, or the project's sample of SciTLDR)."""
