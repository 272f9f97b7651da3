// loses: extreme 2; a billion is not the largest int
