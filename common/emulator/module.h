/* A loaded PTX module: its functions ready to run, its variables placed in device memory. */
#ifndef MODULE_H
#define MODULE_H
#include <stddef.h>
#include <stdint.h>

struct module;
struct function;

/* Parses, checks and decodes `text` (not NUL-terminated; copied) and places its variables. On failure returns NULL and sets
 * *error to a malloc'd report of the shape "name:line:column: error: …" with the line and a caret below it. */
struct module *module_load(const char *text, size_t bytes, const char *name, char **error);
void module_unload(struct module *module);

/* By mangled name; NULL if the module has no such kernel or variable. */
const struct function *module_kernel(const struct module *module, const char *name);
uint64_t module_variable(const struct module *module, const char *name, size_t *bytes); /* device address; 0 if there is none */

/* The kernels in the order of the text; NULL behind the last. */
const struct function *module_kernel_at(const struct module *module, size_t index);
const char *function_name(const struct function *function);

/* What cudaFuncGetAttributes asks of a kernel. Sizes in bytes. */
struct function_facts {
    const char *name;
    size_t static_shared, local, constant, parameters;
    int registers;           /* PTX's virtual registers live at once, an estimate: ptxas is not here */
    int max_threads;         /* from .maxntid / .reqntid, else 1024 */
    int ptx_version, target; /* 90 for ".version 9.0"; 75 for ".target sm_75" */
    size_t parameter_count;
    const size_t *parameter_bytes; /* one size an argument, in order */
};
void function_facts(const struct function *function, struct function_facts *facts);
#endif
