"""The command: `pronghorn`, and `python -m pronghorn`."""

import sys

from pronghorn import _pronghorn


def main() -> int:
    """Do what the command line asks for and return the exit status."""
    return _pronghorn.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
