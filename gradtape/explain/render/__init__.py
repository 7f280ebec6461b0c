"""Rendering of problems as text and HTML, with functions named as the user's file imports them."""
