"""Queries that users call: `why` (why a gradient is what it is), `coverage` (lines that carry a gradient), `saved`
(arrays that a tape keeps alive), `audit_batch` (examples that depend on each other).
"""
