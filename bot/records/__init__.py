"""Records: those of our games, those a command is given, lists and conversions of them."""
