"""The turn machine: fed with events, answers with decisions."""
