"""An HTML page, parsed for tests."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects words, tags and references."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags, self.references = [], [], set(), []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.references += [value for name, value in attributes if name in ("src", "href", "srcset", "data")]
        if tag == "img":
            assert dict(attributes)["alt"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
