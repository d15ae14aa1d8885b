"""One proxy under mixed faults for a long time: `python -m bench.soak`."""
