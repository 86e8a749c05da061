"""Training and evaluation of the global reward predictor."""
