// loses: atomics 1; an atomic a warp
