"""In which steps to go there."""
