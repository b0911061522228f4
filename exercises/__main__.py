"""`python -m exercises`: status, check, explain, hint and all other commands; see desk/cli.py."""

from exercises.desk.cli import main

if __name__ == "__main__":
    main()
