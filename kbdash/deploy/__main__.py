"""`python -m kbdash.deploy OWNER/NAME`."""

import sys

from kbdash.deploy.command import main
from kbdash.terminal import carried_out

sys.exit(carried_out(main))
