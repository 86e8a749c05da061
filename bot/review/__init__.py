"""`suzaku review`: compares the decisions in records with a policy's choices."""
