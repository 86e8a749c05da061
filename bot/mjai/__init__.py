"""The bot as an mjai engine on stdin and stdout."""
