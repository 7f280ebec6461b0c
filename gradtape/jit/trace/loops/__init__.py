"""Loops: found while Python runs them, executed without being recorded, and emitted as one `Loop` instruction.

`detect` compares each operation with those of the iteration before (`match`, `template`); after enough equal iterations
`elide` runs further ones without recording them (`elide_op`), and on exit emits one loop whose first values `live_in`
collects. `backward` collapses a loop in the graph before a backward pass (`unrolled`, `reach`, `body`). `scan_op`,
`scan_body` and `scan_rule` are the compiled form of `gt.scan`, which all of them end in, `while_op` and `while_rule`
that of `gt.while_loop`.
The page docs/dev/loops.md shows the states of a loop and what ends each.
"""
