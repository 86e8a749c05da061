"""Whether the answers of the riichi, chi, pon and kan models are right: `suzaku eval answers`."""
