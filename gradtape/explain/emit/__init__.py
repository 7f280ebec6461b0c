"""Reporting problems: the severity of each code (raise, warn, note, off), listeners, and hooks for uncaught errors."""
