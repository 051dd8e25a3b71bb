"""The settings tree: one documented file, environment overrides, unknown keys refused."""
