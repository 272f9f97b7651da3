// loses: any n 3, all or none 1, sync 1, sharing 2, atomics 1, reads 1; lanes beyond the end do not vote
