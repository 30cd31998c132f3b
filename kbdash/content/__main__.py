"""`python -m kbdash.content`."""

import sys

from kbdash.content.command import main

sys.exit(main())
