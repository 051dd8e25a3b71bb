"""`python -m milepost` is the program `milepost`."""

from milepost.cli import main

if __name__ == "__main__":
    main()
