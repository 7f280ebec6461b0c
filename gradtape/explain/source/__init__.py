"""The user's source: files as syntax trees, the executing expression, data flow, and where values are written."""
