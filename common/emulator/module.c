/* Loading a module: parse, place its variables in device memory, decode its functions. */
#define _GNU_SOURCE
#include "module.h"
#include "memory.h"
#include "ptx.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *host_of(const struct symbol *symbol)
{
    return memory_host((const void *)(uintptr_t)symbol->address, symbol->bytes);
}

/* Global and constant variables get device memory; extern ones are looked for among the others. */
static bool place_variables(struct module *module, char **error)
{
    for (size_t i = 0; i < module->symbol_count; i++) {
        struct symbol *s = module->symbols[i];
        if (s->is_extern || (s->space != SPACE_GLOBAL && s->space != SPACE_CONST))
            continue;
        /* A zero-sized variable still needs an address of its own. */
        enum memory_kind kind = s->managed ? MEMORY_MANAGED : s->space == SPACE_CONST ? MEMORY_CONSTANT : MEMORY_VARIABLE;
        s->address = (uintptr_t)memory_allocate(s->bytes ? s->bytes : 1, kind, s->name);
        if (!s->address) {
            *error = ptx_report(module, 0, 0, "no memory for variable '%s' of %zu bytes", s->name, s->bytes);
            return false;
        }
        s->placed = true;
        if (s->initial) /* the rest is zero, as fresh memory is */
            memcpy(host_of(s), s->initial, s->initial_bytes);
    }
    return true;
}

static void relocate(struct module *module)
{
    for (size_t i = 0; i < module->symbol_count; i++) {
        struct symbol *s = module->symbols[i];
        for (size_t k = 0; s->placed && k < s->relocation_count; k++) {
            const struct relocation *r = &s->relocations[k];
            uint64_t value = (r->target ? r->target->address : function_address(r->function)) + (uint64_t)r->addend;
            size_t bytes = type_bytes[s->type] < 8 ? type_bytes[s->type] : 8;
            memcpy(host_of(s) + r->at, &value, bytes);
        }
    }
}

/* A kernel is decoded when it is first asked for; a fault in one does not keep the others from running. */
static const struct function *ready(struct function *f)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!f->ready)
        link_kernel(f);
    f->ready = true;
    pthread_mutex_unlock(&lock);
    return f;
}

struct module *module_load(const char *text, size_t bytes, const char *name, char **error)
{
    struct arena *arena = arena_new();
    struct module *module = arena_take(arena, sizeof *module);

    module->arena = arena;
    module->text = arena_string(arena, text, bytes);
    module->bytes = strnlen(module->text, bytes);
    module->name = arena_string(arena, name, strlen(name));
    *error = NULL;
    if (!ptx_parse(module, error) || !place_variables(module, error)) {
        module_unload(module);
        return NULL;
    }
    relocate(module);
    return module;
}

void module_unload(struct module *module)
{
    for (size_t i = module->symbol_count; i-- > 0;) /* from the end, where freeing moves no others */
        if (module->symbols[i]->placed)
            memory_free((void *)(uintptr_t)module->symbols[i]->address);
    for (size_t i = 0; i < module->function_count; i++)
        free(module->functions[i]->error);
    arena_free(module->arena);
}

const struct function *module_kernel(const struct module *module, const char *name)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_kernel && module->functions[i]->has_body && !strcmp(module->functions[i]->name, name))
            return ready(module->functions[i]);
    return NULL;
}

const struct function *module_kernel_at(const struct module *module, size_t index)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_kernel && module->functions[i]->has_body && index-- == 0)
            return ready(module->functions[i]);
    return NULL;
}

const char *function_name(const struct function *function)
{
    return function->name;
}

uint64_t module_variable(const struct module *module, const char *name, size_t *bytes)
{
    for (size_t i = 0; i < module->symbol_count; i++)
        if (module->symbols[i]->placed && !strcmp(module->symbols[i]->name, name)) {
            *bytes = module->symbols[i]->bytes;
            return module->symbols[i]->address;
        }
    return 0;
}

void function_facts(const struct function *f, struct function_facts *facts)
{
    size_t constant = 0;

    for (size_t i = 0; i < f->module->symbol_count; i++)
        if (f->module->symbols[i]->space == SPACE_CONST)
            constant += f->module->symbols[i]->bytes;
    *facts = (struct function_facts){.name = f->name,
                                     .static_shared = f->static_shared,
                                     .local = f->local_bytes,
                                     .constant = constant,
                                     .parameters = f->parameter_bytes,
                                     .registers = f->reg_count < 255 ? (int)f->reg_count : 255,
                                     .max_threads = (int)f->max_threads,
                                     .ptx_version = f->module->ptx_version,
                                     .target = f->module->target,
                                     .parameter_count = f->parameter_count,
                                     .parameter_bytes = f->parameter_sizes};
}
