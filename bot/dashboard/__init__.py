"""The dashboard: web pages that show the running game and past games."""
