"""`python -m deadheat` is the command `deadheat`."""

from deadheat.cli.main import main

if __name__ == "__main__":
    main()
