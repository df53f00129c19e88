// All of this target is in its header.
