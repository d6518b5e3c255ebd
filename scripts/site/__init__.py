"""What turns the repository into a site: executed examples, pictures, checks of what was built."""
