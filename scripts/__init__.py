"""What developers run, beside the package."""
