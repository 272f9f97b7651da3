/* How libFuzzer changes PTX: besides bytes, whole words and lines, from the same text or another, so that more of what comes
 * out is PTX that the decoder has to look at. */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_bytes, const uint8_t *other, size_t other_bytes, uint8_t *out,
                                 size_t most, unsigned seed);

struct piece {
    size_t at, bytes;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool is_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '%' || c == '.' || c == '$' || c == ':';
}

/* The word or line around a random place; empty if there is none. */
static struct piece choose(const uint8_t *data, size_t bytes, bool line, unsigned *state)
{
    size_t at = next_random(state) % bytes, end;

    while (!line && at < bytes && !is_word(data[at]))
        at++;
    end = at;
    while (at > 0 && (line ? data[at - 1] != '\n' : is_word(data[at - 1])))
        at--;
    while (end < bytes && (line ? data[end] != '\n' : is_word(data[end])))
        end++;
    return (struct piece){at, end + (line && end < bytes) - at};
}

/* `to`, with `old` replaced by a piece of `from`. */
static size_t replace(uint8_t *to, size_t bytes, size_t most, struct piece old, const uint8_t *from, struct piece new)
{
    if (bytes - old.bytes + new.bytes > most)
        return bytes;
    memmove(to + old.at + new.bytes, to + old.at + old.bytes, bytes - old.at - old.bytes);
    memcpy(to + old.at, from + new.at, new.bytes);
    return bytes - old.bytes + new.bytes;
}

static size_t mix(uint8_t *to, size_t bytes, size_t most, const uint8_t *from, size_t from_bytes, unsigned *state)
{
    unsigned how = next_random(state) % 8;
    bool line = how < 4;
    struct piece old = choose(to, bytes, line, state), new = choose(from, from_bytes, line, state);

    if (how < 3)
        old.bytes = 0; /* put in a line */
    if (how == 7)
        new.bytes = 0; /* take out a word */
    return replace(to, bytes, most, old, from, new);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
    uint8_t copy[1 << 16];

    if (bytes == 0 || bytes > sizeof copy || next_random(&seed) % 3 == 0)
        return LLVMFuzzerMutate(data, bytes, most);
    memcpy(copy, data, bytes);
    return mix(data, bytes, most, copy, bytes, &seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_bytes, const uint8_t *other, size_t other_bytes, uint8_t *out,
                                 size_t most, unsigned seed)
{
    size_t bytes = one_bytes < most ? one_bytes : most;

    memcpy(out, one, bytes);
    for (unsigned times = 1 + next_random(&seed) % 4; times > 0 && bytes && other_bytes; times--)
        bytes = mix(out, bytes, most, other, other_bytes, &seed);
    return bytes;
}
