// The room's first files replace this one.
