"""`python -m kbdash.deploy OWNER/NAME`."""

import sys

from kbdash.deploy.command import main

sys.exit(main())
