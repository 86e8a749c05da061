"""`suzaku ask`: what a policy would do in a position written by hand."""
