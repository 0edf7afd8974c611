"""Word counts simulated from a corpus' topics, whose correlations change between training and test."""
