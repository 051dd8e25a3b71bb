from pathlib import Path

from milepost.cli.reference import commands_page, settings_page

FOLDER = Path(__file__).parents[2] / "docs/reference"


def test_the_page_on_commands_says_what_the_program_says():
    assert (FOLDER / "commands.md").read_text(encoding="utf-8") == commands_page(), "run scripts/reference"


def test_the_page_on_settings_shows_the_default_file():
    assert (FOLDER / "settings.md").read_text(encoding="utf-8") == settings_page(), "run scripts/reference"
