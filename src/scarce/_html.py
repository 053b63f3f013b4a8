"""Self-contained HTML pages: a Jinja environment, and images as data URIs."""

import base64

from jinja2 import Environment, PackageLoader, StrictUndefined


def make_environment(package: str) -> Environment:
    """Return the Jinja environment of a package's ``templates`` folder; it escapes HTML and rejects undefined names.

    Examples
    --------
    >>> make_environment("scarce.demo").from_string("{{ name }}").render(name="a<b")
    'a&lt;b'
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def data_uri(content: bytes, kind: str) -> str:
    """Return an image as a data URI; `kind` is its media subtype, such as ``svg+xml``.

    Examples
    --------
    >>> data_uri(b"<svg/>", "svg+xml")
    'data:image/svg+xml;base64,PHN2Zy8+'
    """
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
