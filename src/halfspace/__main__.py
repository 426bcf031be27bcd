"""`python -m halfspace` is the command `halfspace`."""

from halfspace.cli import main

if __name__ == "__main__":
    main(prog_name="halfspace")
