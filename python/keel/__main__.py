"""The command `keel`: the program that came with this package, in this process."""

import os
import sys

from ._library import HERE

PROGRAM = os.path.join(HERE, "native", "bin", "keel")


def main() -> None:
    try:
        os.execv(PROGRAM, ["keel", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"keel: {PROGRAM}: {error.strerror}; reinstall the wheel of keel")


if __name__ == "__main__":
    main()
