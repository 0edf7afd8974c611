"""Diverse dictionary learning."""
