"""How gradtape explains itself: the causes behind a gradient that is missing, in the user's own lines."""
