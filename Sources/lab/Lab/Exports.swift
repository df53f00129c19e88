// Links are described by the same words, whether they are simulated or made on this machine.
@_exported import LinkModel
