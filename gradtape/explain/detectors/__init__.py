"""Detectors: each recognises one kind of mistake in a recorded computation and builds its `Problem`."""
