"""Where to go: which accepted rows a person could become."""
