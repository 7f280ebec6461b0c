"""The documentation site: what turns docs/ and the docstrings into docs/_build/html, with Sphinx and MyST.

`python -m tools.docs_site`, which `make docs` calls, does these steps in order:

- `assemble`   copies the pages of docs/ to docs/_build/source, with links that lead somewhere in the site
- `reference`  writes there the API reference, from signatures and docstrings
- `programs`   writes there a page for each program of examples/
- `codes`      writes there what the finder of error messages searches
- Sphinx       builds docs/_build/html from that; its warnings are errors
- `check`      reads the built pages: no dead link or anchor, no file from the network

What is committed stays plain Markdown that a code host shows as well. A comment `<!-- site ... -->` is text for the
site only, and what stands between `<!-- host -->` and `<!-- /host -->` is for the code host only.
"""
