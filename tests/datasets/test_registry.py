"""The registry of data sets."""

import re

from scarce.datasets import available_datasets


def test_registry_entries_are_well_formed():
    seen = set()
    for facts in available_datasets().values():
        for files in (files for alternatives in facts.needs for files in alternatives):
            names = {file.name for file in files.files}
            for download in files.downloads:
                is_archive = download.name.endswith(".tar.gz")
                assert is_archive or download.name.removesuffix(".gz") in names
                assert all(url.startswith("http") for url in download.urls)
            for item in (*files.files, *files.downloads):
                if item.checksum is not None:
                    assert re.fullmatch("md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", item.checksum)
                    seen.add((item.name, item.checksum))
    # A checksum pasted twice would belong to two names.
    assert len({checksum for _, checksum in seen}) == len(seen)
