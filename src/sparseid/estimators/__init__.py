"""Estimators with scikit-learn's conventions for the methods whose data are tables; none yet for Sparling."""
