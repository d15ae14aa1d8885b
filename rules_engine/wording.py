"""Every sentence that a model will ever read from us, and its escaping."""
