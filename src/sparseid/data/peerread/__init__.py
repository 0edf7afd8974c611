"""Word counts of abstracts of papers (PeerRead, or SciTLDR's that the project holds)."""
