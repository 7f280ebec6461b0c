"""The data of an explanation: `Problem` with its spans and fixes, the registry of codes, and the page of each code."""
