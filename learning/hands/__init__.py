"""Training and measuring of the models of opponents' hands."""
