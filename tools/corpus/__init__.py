"""Makes pages with perfect truth, to teach the page model and to judge reading by."""
