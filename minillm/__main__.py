"""python -m minillm: the same as the command `minillm`."""

from minillm.cli import main

if __name__ == "__main__":
    main()
