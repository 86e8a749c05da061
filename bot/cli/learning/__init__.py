"""Commands that measure players, and train and measure networks."""
