"""Cars3D: car models seen from many sides (Reed et al. 2015), and images of our own of the same factors."""
