"""`scipy.sparse.csgraph`: algorithms on graphs, whose results are whole numbers, or chosen among paths."""

from __future__ import annotations

from gradtape.mirror import Original

original = Original("scipy.sparse.csgraph")

REASONS = {
    "chooses paths, trees, flows or orders: it has no derivative in gradtape": (
        "bellman_ford breadth_first_order breadth_first_tree connected_components depth_first_order depth_first_tree"
        " dijkstra floyd_warshall johnson maximum_bipartite_matching maximum_flow min_weight_full_bipartite_matching"
        " minimum_spanning_tree reconstruct_path reverse_cuthill_mckee shortest_path structural_rank yen"
    ),
    "makes another form of a graph of arrays, and has no derivative in gradtape": (
        "construct_dist_matrix csgraph_from_dense csgraph_from_masked csgraph_masked_from_dense csgraph_to_dense"
        " csgraph_to_masked laplacian"
    ),
    "runs SciPy's own tests": "test",
}
"""The functions without a derivative, a text of names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), reasons=REASONS)
