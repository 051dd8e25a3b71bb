"""Contract kits for those who add a database, a publisher or a provider; nothing in production imports them."""
