"""Whole hidden deals for one player's view: the opponents' hands, and the wall in order."""
