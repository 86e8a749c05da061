"""Samplers of the opponents' concealed hands, given what one player has seen."""
