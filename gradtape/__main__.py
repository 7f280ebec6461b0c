"""`python -m gradtape`: the same as the command `gradtape`."""

import sys

from gradtape.commands import main

if __name__ == "__main__":
    sys.exit(main())
