"""Edits of the user's expression, tried before they are offered: shapes, numbers, indices, arguments of calls."""
