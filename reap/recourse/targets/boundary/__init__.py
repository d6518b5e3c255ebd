"""Least effort on the decision boundary."""
