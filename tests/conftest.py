"""What every test starts from."""

from __future__ import annotations

import signal

# a shell ignores Ctrl-C for what it runs in the background, and so would programs that tests start and stop
signal.signal(signal.SIGINT, signal.default_int_handler)
