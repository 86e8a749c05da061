"""The dashboard: a page in the browser that shows games as they are played, and those that were."""
