"""Shapes3D: an object in a room, of six factors (Burgess and Kim 2018), and images of our own of the same factors."""
