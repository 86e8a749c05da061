"""How well danger estimates match real games."""
