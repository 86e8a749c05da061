"""Measures what adapting the policy to a dealt hand gains: `suzaku eval adaptation`."""
