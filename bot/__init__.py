"""Plays: the Tenhou client and lobby, the seated player, the command line."""
