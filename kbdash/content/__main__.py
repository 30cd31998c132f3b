"""`python -m kbdash.content`."""

import sys

from kbdash.content.command import main
from kbdash.terminal import carried_out

sys.exit(carried_out(main))
