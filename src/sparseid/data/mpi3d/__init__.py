"""MPI3D: a robot's arm that carries an object (Gondal et al. 2019), and images of our own of the same factors."""
