"""What is not collected: programs that the stand-ins run, and checks that need the libraries they compare with."""

collect_ignore_glob = ["standins/snippets/*", "bridges/*_checks.py", "*/conformance.py"]
