"""The commands, one a file; `reap.cli` puts them together."""
