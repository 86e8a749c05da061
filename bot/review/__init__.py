"""`suzaku review`: records held against what a policy would have done."""
