/* Memory that is freed all at once. */
#include "ptx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chunk {
    struct chunk *older;
    size_t used, room;
    _Alignas(16) char bytes[];
};
struct arena {
    struct chunk *newest;
};
enum { CHUNK_BYTES = 1 << 16 };

struct arena *arena_new(void)
{
    struct arena *arena = calloc(1, sizeof *arena);

    if (!arena) {
        fprintf(stderr, "emulator: out of memory\n");
        exit(3);
    }
    return arena;
}

void *arena_take(struct arena *arena, size_t bytes)
{
    struct chunk *chunk = arena->newest;

    bytes = (bytes + 15) & ~(size_t)15;
    if (!chunk || chunk->room - chunk->used < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + room);
        if (!chunk) {
            fprintf(stderr, "emulator: out of memory\n");
            exit(3);
        }
        chunk->room = room;
        chunk->older = arena->newest;
        arena->newest = chunk;
    }
    chunk->used += bytes;
    return chunk->bytes + chunk->used - bytes;
}

char *arena_string(struct arena *arena, const char *text, size_t bytes)
{
    char *copy = arena_take(arena, bytes + 1);

    memcpy(copy, text, bytes);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->newest) {
        struct chunk *chunk = arena->newest;
        arena->newest = chunk->older;
        free(chunk);
    }
    free(arena);
}
