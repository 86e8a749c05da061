"""`python -m bot.cli` is `suzaku`."""

from bot.cli import main

main()
