"""Where the kernel enters: it calls these functions, which give detectors its nodes, values and failures as records."""
