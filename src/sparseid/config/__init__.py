"""Typed configuration: schema, composition, validation and run identity. It imports Hydra but never torch."""
