"""``python -m reap`` is the command ``reap``."""

from reap.cli import app

if __name__ == "__main__":
    app()
