"""``python -m reap`` is the command ``reap``."""

from reap.cli import main

if __name__ == "__main__":
    main()
