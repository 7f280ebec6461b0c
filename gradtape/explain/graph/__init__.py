"""The recorded graph as explanations read it: replaying a backward pass, paths through it, and cuts."""
