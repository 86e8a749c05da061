"""Training of the global reward predictor."""
