"""What matching and relaying cost, measured: `python -m bench` writes one report."""
