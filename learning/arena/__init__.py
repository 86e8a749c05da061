"""Who is stronger, by how much, and how sure we are: games over the same walls in every seat."""
