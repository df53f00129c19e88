// Simulated and shaped links share the description of a link.
@_exported import LinkModel
