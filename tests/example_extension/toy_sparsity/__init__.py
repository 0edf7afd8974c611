"""An extension of sparseid: a data set, a method and a paper, as an example to copy."""
