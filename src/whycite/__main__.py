"""`python -m whycite` is the command `whycite`."""

from whycite.cli import main

if __name__ == "__main__":
    main()
