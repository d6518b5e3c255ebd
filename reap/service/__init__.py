"""The service: pages for the person, a JSON API for the engineer, one append-only store under both."""
