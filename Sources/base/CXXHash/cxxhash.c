// The code of this target is in its header.
