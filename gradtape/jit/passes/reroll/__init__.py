"""Loop rerolling: repeated instructions of a finished program become `Loop` instructions.

`find` looks for the repetition, `build` makes the loops, `induction` handles indices that advance from iteration to
iteration, `accumulate` hoists scatter-adds out of loops.
"""
