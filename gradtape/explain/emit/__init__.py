"""Who receives a problem: the severity of each code (raise, warn, note, off), listeners, and the hooks for uncaught
errors.
"""
