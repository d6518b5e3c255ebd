"""Plans that are good whatever matrix of a confidence set is true."""
