"""Typed configuration: schema, composition, validation and run identity. Imports Hydra and never torch."""
