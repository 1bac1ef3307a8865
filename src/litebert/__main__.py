"""What does `python -m litebert` do? What `litebert` does: so torchrun can start it."""

from litebert.cli.main import run

if __name__ == "__main__":
    run()
