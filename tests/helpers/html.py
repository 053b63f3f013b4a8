"""An HTML page, parsed for tests."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects words, tags, references, scripts of attributes, and the policy."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags, self.references, self.handlers = [], [], set(), [], []
        self.policy, self.tags_before_policy = {}, set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(part.strip().split(" ", 1) for part in given["content"].split(";"))
            self.tags_before_policy = set(self.tags)
        self.tags.add(tag)
        self.handlers += [name for name in given if name.startswith("on")]
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

    def assert_harmless(self):
        """Check that the page has no script, and that its policy lets a browser load and run nothing."""
        assert not self.tags & {"script", "link", "iframe", "object", "embed", "form", "base"}
        assert self.handlers == []
        assert all(reference.startswith("data:image/") for reference in self.references)
        assert self.policy == {
            "default-src": "'none'",
            "img-src": "data:",
            "style-src": "'unsafe-inline'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert not self.tags_before_policy & {"style", "img", "body"}  # a policy applies to what follows it

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
