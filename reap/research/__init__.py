"""What only research needs: simulated people, where their effort comes from, baselines, experiments."""
