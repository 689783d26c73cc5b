// The room's first file comes with the change that furnishes it.
