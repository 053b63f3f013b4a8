"""Any text as LaTeX prints it, with pdfLaTeX too."""

import unicodedata

__all__ = ["latex_text", "unknown_letters"]

# In braces what LaTeX would take for an argument after the end of a row.
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$", "∞": r"$\infty$", "≤": r"$\le$",
    "≥": r"$\ge$", "≠": r"$\ne$", "≈": r"$\approx$", "→": r"$\to$", "–": "--", "—": "---", "…": r"\dots{}", "’": "'",
    "“": "``", "”": "''",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip
# The Greek letters without a command of their own look like Latin ones.
_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
_RAISED = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}
_LAST_KNOWN = "\u017f"  # accented Latin letters


def latex_text(text: str) -> str:
    r"""Return a text in one line, with every character that LaTeX reads as a command, or cannot read, as it writes it.

    Examples
    --------
    >>> print(latex_text("[a_b] < π, σ²"))
    {[}a\_b{]} \textless{} $\pi$, $\sigma$\textsuperscript{2}
    """
    return "".join(map(_written, unicodedata.normalize("NFC", " ".join(text.split()))))


def unknown_letters(text: str) -> str:
    """Return the characters of a text for LaTeX, each once, that only the newer engines of it can print.

    Examples
    --------
    >>> unknown_letters(latex_text("π, é and 猫"))
    '猫'
    """
    return "".join(dict.fromkeys(letter for letter in text if letter > _LAST_KNOWN))


def _written(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character <= _LAST_KNOWN and character not in "¹²³":
        return character
    kind, _, base = unicodedata.decomposition(character).partition(" ")
    if kind in _RAISED:
        return f"{_RAISED[kind]}{{{chr(int(base, 16))}}}"
    words = unicodedata.name(character, "").split()
    if words[:1] == ["GREEK"] and words[2:3] == ["LETTER"] and len(words) == 4:
        name = words[3].lower().replace("lamda", "lambda")
        return _LATIN.get(character) or f"$\\{name if words[1] == 'SMALL' else name.capitalize()}$"
    return character
