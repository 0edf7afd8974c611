"""Estimators with scikit-learn's conventions: of tables, and of images or sounds (Sparling)."""
