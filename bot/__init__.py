"""Play: the Tenhou client and lobby, the player at a seat, the dashboard, reviews and the command line."""
