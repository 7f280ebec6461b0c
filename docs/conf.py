"""Sphinx's settings for the site; `make docs` builds it (see tools/docs_site)."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import gradtape  # noqa: E402  (the package of this tree)
from tools.docs_site import assemble, autolink  # noqa: E402

project = "gradtape"
author = "The gradtape developers"
copyright = "The gradtape developers"
version = release = gradtape.__version__

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.zip"]
nitpicky = True
nitpick_ignore_regex = autolink.NOT_DOCUMENTED
suppress_warnings = ["config.cache"]  # sphinx_gallery_conf has functions, which cannot be pickled

# -- Markdown
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 6
myst_links_external_new_tab = False

# -- code
highlight_language = "text"
pygments_style = "tango"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div.highlight-python pre, div.highlight-pycon pre, div.highlight-py pre, div.highlight-sh pre"

# -- signatures
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 72
toc_object_entries_show_parents = "hide"
add_module_names = True

# -- the gallery, which needs its programs and sphinx-gallery
if assemble.GALLERY.is_dir() and find_spec("sphinx_gallery"):
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": [str(assemble.GALLERY)],
        "gallery_dirs": ["gallery"],  # below the assembled source
        "filename_pattern": r"\.py$",
        "ignore_pattern": r"(^|/)_|/test_",
        "abort_on_example_error": True,
        "download_all_examples": False,
        "remove_config_comments": True,
        "show_memory": False,
        "write_computation_times": False,  # that page loads a script from the network
        "plot_gallery": os.environ.get("GRADTAPE_DOCS_GALLERY", "1") == "1",
    }

# -- HTML
html_theme = "pydata_sphinx_theme"
html_title = "gradtape"
html_static_path = ["_static", "_build/static"]
templates_path = ["_templates"]
html_css_files = ["gradtape.css"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "gradtape", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "show_nav_level": 1,
    "navigation_depth": 3,
    "collapse_navigation": True,
    "show_toc_level": 2,
    "search_as_you_type": True,
    "search_bar_text": "Search names, codes, messages ...",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": True,
}
html_sidebars = {"index": [], "start": [], "changelog": [], "examples/*": ["sidebar-nav-bs"]}


def setup(app):
    """Called by Sphinx."""
    autolink.setup(app)
