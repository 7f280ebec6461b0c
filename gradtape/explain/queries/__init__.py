"""What users ask: why a gradient is what it is, which lines carry gradient, what a tape keeps alive, which examples
leak.
"""
