"""The paper's paths through rows of other people."""
