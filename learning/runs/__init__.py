"""What every training run needs: its folder and state, its progress, its commit."""
