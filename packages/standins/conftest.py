"""What is not collected: programs that the stand-ins run, and the comparison that needs the libraries themselves.

The tests share the fixtures and the settings of gradtape's own, and are run from the root of the repository.
"""

from tests.conftest import _settings_of_no_user

__all__ = ["_settings_of_no_user"]

collect_ignore_glob = ["tests/snippets/*", "tests/conformance.py"]
