"""Settings: one documented file, overridden by the environment, checked before anything starts."""
