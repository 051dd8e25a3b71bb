"""What every test shares."""

pytest_plugins = ["pytester", "tests.expected_skips"]
