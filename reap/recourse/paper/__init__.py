"""The engines of the paper: paths through rows of other people, and gradient descent."""
