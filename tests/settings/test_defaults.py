import re
import tomllib

from milepost.settings.reading import default_text
from milepost.settings.sections import Settings
from milepost.settings.showing import plain
from milepost.settings.tree import KEYS, leaves


def test_the_default_file_is_the_default():
    assert dict(leaves(tomllib.loads(default_text()))) == dict(leaves(plain(Settings())))


def test_every_key_is_in_the_default_file_and_has_a_comment_of_its_own():
    section, said, commented = (), False, set()
    for line in default_text().splitlines():
        header = re.fullmatch(r"\[(.+)\]", line)
        entry = re.match(r"([a-z_]+) = ", line)
        if header:
            section = tuple(header[1].split("."))
        if entry and said:
            commented.add((*section, entry[1]))
        said = line.startswith("# ")
    assert commented == set(KEYS)
