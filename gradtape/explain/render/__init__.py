"""Rendering of problems as text and HTML, in the names that the user's file imports."""
