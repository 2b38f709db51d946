"""The documentation site: `make docs` builds it below build/docs, without a network.

Addresses come from [project.urls] of pyproject.toml and nowhere else; without them no page links to a repository.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "building"))

import described_pages
import generated_pages
import outside_links
import plain_docstrings
from api_members import skip_foreign_members

import maxmargin

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URLS = {name.lower(): url.rstrip("/") for name, url in PROJECT.get("urls", {}).items()}
REPOSITORY = URLS.get("repository", URLS.get("source", ""))

project = PROJECT["name"]
author = PROJECT["authors"][0]["name"]
copyright = author
release = version = maxmargin.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx_llms_txt",
]
exclude_patterns = ["building", "static", "templates"]
templates_path = ["templates"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!maxmargin\.).*"),  # types of other packages and words in descriptions of parameters
    ("py:obj", r".*[^\w.].*"),  # code between backquotes that is no name
    ("py:.*", r"maxmargin\.(base|problem|structures|training|inputs|report|command)\..*"),  # no public names
]
suppress_warnings = ["config.cache"]  # the gallery's order of files is a function

# --- pages

myst_enable_extensions = ["colon_fence", "deflist", "html_image"]
myst_heading_anchors = 4
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
highlight_language = "none"  # blocks without a language are formulas

# --- reference

MISSING = [name for name in generated_pages.EXTRAS if find_spec(name) is None]
default_role = "py:obj"
add_module_names = False
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_mock_imports = MISSING
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

# --- gallery

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    # Examples that need a package which is not installed are shown without being run.
    "filename_pattern": r"plot_(?!neural_tagger)" if "torch" in MISSING else "plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": None,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (480, 336),
    "default_thumb_file": str(DOCS / "static" / "logo.svg"),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "plot_gallery": "True",
    "nested_sections": False,
}

# --- site

html_title = "maxmargin"
html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["house.css"]
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_baseurl = f"{URLS['documentation']}/" if "documentation" in URLS else ""
html_copy_source = True
html_show_sourcelink = False
html_sidebars = {"index": [], "search": []}
html_theme_options = {
    "logo": {"text": "maxmargin"},
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "icon_links": [{"name": "Repository", "url": REPOSITORY, "icon": "fa-solid fa-code"}] if REPOSITORY else [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# --- what machines read

llms_txt_title = "maxmargin"
llms_txt_summary = (
    "maxmargin is a Python library for structured prediction. It trains structural support vector machines "
    "(structured SVMs), conditional random fields and related models, with scikit-learn's interface, and proves how "
    "close to optimal each model is."
)
llms_txt_exclude = ["search", "genindex", "reference/generated/maxmargin*"]


def setup(app):
    """Connect what this site adds to Sphinx."""
    app.connect("config-inited", lambda app, config: generated_pages.write(DOCS))
    app.connect("source-read", outside_links.replace(DOCS, ROOT, REPOSITORY))
    app.connect("build-finished", described_pages.describe, priority=900)  # after llms.txt is written
    app.connect("autodoc-skip-member", skip_foreign_members)
    app.connect("autodoc-process-docstring", plain_docstrings.process, priority=400)  # numpydoc has 500
