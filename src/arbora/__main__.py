"""`python -m arbora` is the command `arbora`."""

from arbora.cli import main

if __name__ == "__main__":
    main()
