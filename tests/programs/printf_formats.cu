// expect: got=-7|   42|00042|+42|005 beef|0XFF|010 -1234567890123|18446744073709551615 3.50|-1.500e+00|1e+20|inf Z| abc|ab|(null) (nil)|0x10 %|100% 9,3,-1,0
// The device's printf follows the host's rules; it gives the number of its arguments, and -1 without a format.
#include <cstdio>
__constant__ char word[4] = "abc";
__device__ char letters[8] = "abcdef";

__global__ void k(const char *null)
{
    char own[4] = {'%', '%', (char)('0' + threadIdx.x - '0'), 0};
    own[2] = 0;
    int a = printf("got=%d|%5d|%05d|%+d|%.3d %x|%#X|%#o ", -7, 42, 42, 42, 5, 0xbeef, 255, 8) + 1;
    int b = printf("%lld|%llu %.2f|%.3e|%g|", -1234567890123LL, ~0ULL, 3.5, -1.5, 1e20) - 2;
    int c = printf(null);
    printf("%f %c|%4s|%.2s|%s %p|%p %%|100", 1e308 * 10, 'Z', word, letters, null, (void *)0, (void *)16);
    int d = printf(own);
    printf(" %d,%d,%d,%d\n", a, b, c, d);
}
int main()
{
    k<<<1, 1>>>(nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
