"""Inputs and outputs of an MLP in a transformer that reads a text."""
