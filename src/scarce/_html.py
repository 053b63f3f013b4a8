"""Self-contained HTML pages: a Jinja environment, and images as data URIs."""

import base64

from jinja2 import Environment, PackageLoader, StrictUndefined

# A page needs only its own style and images in data URIs: a browser loads nothing else and runs no script.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def make_environment(package: str) -> Environment:
    """Return the Jinja environment of a package's ``templates`` folder; it escapes HTML and rejects undefined names.

    Pages contain ``<meta http-equiv="Content-Security-Policy" content="{{ content_policy }}">``.

    Examples
    --------
    >>> make_environment("scarce.demo").from_string("{{ name }}").render(name="a<b")
    'a&lt;b'
    """
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["content_policy"] = _POLICY
    return environment


def data_uri(content: bytes, kind: str) -> str:
    """Return an image as a data URI; `kind` is its media subtype, such as ``svg+xml``.

    Examples
    --------
    >>> data_uri(b"<svg/>", "svg+xml")
    'data:image/svg+xml;base64,PHN2Zy8+'
    """
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
