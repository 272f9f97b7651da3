/* The GPU or the emulator. The program is linked with the emulator, which its RUNPATH finds; a directory in LD_LIBRARY_PATH comes
 * before RUNPATH, so the same file runs on NVIDIA's runtime when that directory is put there. Only the loader can do this, before
 * main: we look for a driver, and start the program again when the other runtime is needed. */
#include "protocol.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef EMULATOR_DIR /* where the emulator may lie, as in RUNPATH: places with colons between, $ORIGIN this program's directory */
#define EMULATOR_DIR "$ORIGIN/../build/emulator"
#endif
#ifndef CUDART_DIR /* where the toolkit that built this keeps NVIDIA's runtime */
#define CUDART_DIR "/usr/local/cuda/lib64"
#endif
#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

enum { TOOLKIT_MAJOR = CUDART_VERSION / 1000 };
#if CUDART_VERSION >= 13000
#define RUNTIME_FILE "libcudart.so.13"
#else
#define RUNTIME_FILE "libcudart.so.12"
#endif
_Static_assert(CUDART_VERSION / 1000 == 12 || CUDART_VERSION / 1000 == 13, "RUNTIME_FILE names the runtime of CUDA 12 or 13");

/* Handed over to the program started again: "gpu" or "emulator", and the reason. It also keeps us from doing it twice. */
#define CHOSEN "REDUCTION_DEVICE_CHOSEN"
#define REASON "REDUCTION_DEVICE_REASON"

/* ---- is there a GPU that can run this program? ---- */

/* The driver's functions, found by name: nothing of the driver is needed to build. */
struct driver {
    void *handle;
    int (*cuInit)(unsigned flags);
    int (*cuDriverGetVersion)(int *version);
    int (*cuDeviceGetCount)(int *count);
    int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
};

static bool find(void *library, const char *name, void *function_pointer)
{
    void *address = dlsym(library, name);
    memcpy(function_pointer, &address, sizeof address);
    return address != NULL;
}

static struct driver open_driver(void)
{
    struct driver d = {.handle = dlopen("libcuda.so.1", RTLD_NOW)};
    if (!d.handle)
        d.handle = dlopen("/usr/lib/wsl/lib/libcuda.so.1", RTLD_NOW);
    bool complete =
        d.handle && find(d.handle, "cuInit", &d.cuInit) && find(d.handle, "cuDriverGetVersion", &d.cuDriverGetVersion) &&
        find(d.handle, "cuDeviceGetCount", &d.cuDeviceGetCount) && find(d.handle, "cuDeviceGetAttribute", &d.cuDeviceGetAttribute);
    if (!complete)
        d.handle = NULL;
    return d;
}

/* The CUDA version the driver supports, 0 if it does not say, -1 without a driver. Asked in a process of its own: ncu and
 * compute-sanitizer attach to a process that loads the driver, and hang when it then becomes another program. */
static int driver_version(void)
{
    int version = -1, ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        struct driver d = open_driver();
        if (d.handle && d.cuDriverGetVersion(&version) != 0)
            version = 0;
        _exit(write(ends[1], &version, sizeof version) == sizeof version ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &version, sizeof version) != sizeof version)
        version = -1;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return version;
}

/* Is there a driver, new enough? The reason why not goes to `why`. */
static bool driver_found(char *why, size_t most)
{
    int version = driver_version();
    if (version < 0)
        snprintf(why, most, "no NVIDIA driver: libcuda.so.1 not found");
    else if (version / 1000 < TOOLKIT_MAJOR)
        snprintf(why, most, "the NVIDIA driver is too old: it supports CUDA %d.%d, this program needs %d.0", version / 1000,
                 version % 1000 / 10, TOOLKIT_MAJOR);
    else
        return true;
    return false;
}

/* Does the driver start, with a GPU that can run this program? Asked by the process that goes on to use it. */
static bool gpu_starts(char *why, size_t most)
{
    enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */
    struct driver d = open_driver();
    int error, devices = 0, major = 0, minor = 0;
    if (!d.handle)
        snprintf(why, most, "no NVIDIA driver: libcuda.so.1 not found");
    else if ((error = d.cuInit(0)) != 0)
        snprintf(why, most, "the NVIDIA driver did not start: cuInit gave error %d", error);
    else if (d.cuDeviceGetCount(&devices) != 0 || devices == 0)
        snprintf(why, most, "the NVIDIA driver sees no GPU");
    else if (d.cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, 0) != 0 || d.cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, 0) != 0)
        snprintf(why, most, "the NVIDIA driver does not say what its GPU can do");
    else if (major * 10 + minor < 75)
        snprintf(why, most, "the GPU has compute capability %d.%d, CUDA %d needs 7.5", major, minor, TOOLKIT_MAJOR);
    else
        return true;
    return false;
}

/* ---- where are the runtimes? ---- */

static bool emulator_loaded(void)
{
    return dlsym(RTLD_DEFAULT, "emulator_description") != NULL;
}

static void emulator_directory(char *out, size_t most)
{
    char self[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    char places[] = EMULATOR_DIR, library[PATH_MAX + 32];
    for (char *rest = places, *place; (place = strtok_r(rest, ":", &rest));) {
        bool relative = strncmp(place, "$ORIGIN", 7) == 0;
        snprintf(out, most, "%s%s", relative ? self : "", relative ? place + 7 : place);
        snprintf(library, sizeof library, "%s/" RUNTIME_FILE, out);
        if (access(library, R_OK) == 0)
            return;
    }
}

static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static bool holds_emulator(const char *directory)
{
    char file[PATH_MAX + 32], emulator[PATH_MAX + 32];
    emulator_directory(emulator, PATH_MAX);
    strcat(emulator, "/" RUNTIME_FILE);
    snprintf(file, sizeof file, "%s/" RUNTIME_FILE, directory);
    return same_file(file, emulator);
}

static bool holds_nvidia_runtime(const char *directory)
{
    char file[PATH_MAX + 32];
    snprintf(file, sizeof file, "%s/" RUNTIME_FILE, directory);
    return access(file, R_OK) == 0 && !holds_emulator(directory);
}

/* Is the emulator the first that LD_LIBRARY_PATH names? ./emulate does that. */
static bool emulator_named_first(void)
{
    char first[PATH_MAX];
    const char *library_path = getenv("LD_LIBRARY_PATH");
    if (!library_path)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(library_path, ":"), library_path);
    return holds_emulator(first);
}

/* What the loader's own cache says: a line "libcudart.so.13 (libc6,x86-64) => /usr/.../libcudart.so.13". */
static bool runtime_in_loader_cache(char *out, size_t most)
{
    char line[PATH_MAX];
    bool found = false;
    FILE *list = popen("/sbin/ldconfig -p 2>/dev/null", "r");
    if (!list)
        return false;
    while (!found && fgets(line, sizeof line, list)) {
        char *path = strstr(line, RUNTIME_FILE " ") ? strstr(line, "=> ") : NULL;
        char *slash = path ? strrchr(path, '/') : NULL;
        if (!slash)
            continue;
        *slash = '\0';
        snprintf(out, most, "%s", path + 3);
        found = holds_nvidia_runtime(out);
    }
    pclose(list);
    return found;
}

static bool runtime_directory(char *out, size_t most)
{
    const char *home = getenv("CUDA_HOME"), *library_path = getenv("LD_LIBRARY_PATH");
    char list[8192];
    snprintf(list, sizeof list, "%s%s%s:%s:%s:/usr/local/cuda/lib64", home ? home : "", home ? "/lib64:" : "", CUDART_DIR,
             "/usr/local/cuda-" STRING(TOOLKIT_MAJOR) "/lib64", library_path ? library_path : "");
    for (char *rest = list, *entry; (entry = strtok_r(rest, ":", &rest));)
        if (holds_nvidia_runtime(entry)) {
            snprintf(out, most, "%s", entry);
            return true;
        }
    return runtime_in_loader_cache(out, most);
}

/* ---- the choice ---- */

static void start_again(const char *directory, const char *chosen, const char *why, char **argv)
{
    char path[8192];
    const char *before = getenv("LD_LIBRARY_PATH");
    snprintf(path, sizeof path, "%s%s%s", directory, before && *before ? ":" : "", before ? before : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv(CHOSEN, chosen, 1);
    setenv(REASON, why, 1);
    execv("/proc/self/exe", argv);
    fail(DEVICE_ERROR, "cannot start the program again with the CUDA runtime in %s", directory);
}

/* What the process before this one chose, when this is the program started again. */
static bool chosen_before(struct device *d)
{
    const char *chosen = getenv(CHOSEN), *why = getenv(REASON);
    if (!chosen)
        return false;
    d->emulated = strcmp(chosen, "emulator") == 0;
    snprintf(d->why, sizeof d->why, "%s", why ? why : "");
    unsetenv(CHOSEN);
    unsetenv(REASON);
    if (d->emulated != emulator_loaded())
        fail(DEVICE_ERROR,
             "%s was wanted, but the loader took another " RUNTIME_FILE "; is LD_PRELOAD set, or the emulator not built?",
             d->emulated ? "the emulator" : "NVIDIA's CUDA runtime");
    return true;
}

static void choose(struct device *d, const struct options *o, char *runtime, size_t most)
{
    d->emulated = true;
    if (o->device == DEVICE_EMULATOR)
        snprintf(d->why, sizeof d->why, "asked for");
    else if (o->device == DEVICE_AUTO && emulator_named_first())
        snprintf(d->why, sizeof d->why, "LD_LIBRARY_PATH names it first");
    else if (!driver_found(d->why, sizeof d->why))
        return;
    else if (emulator_loaded() && !runtime_directory(runtime, most))
        snprintf(d->why, sizeof d->why,
                 "there is an NVIDIA driver, but no " RUNTIME_FILE " of NVIDIA's; CUDA_HOME can say where it is");
    else {
        d->emulated = false;
        snprintf(d->why, sizeof d->why, "%s", o->device == DEVICE_GPU ? "asked for" : "a GPU is there");
    }
}

/* Makes sure that the loaded runtime is the chosen device's. */
static void load_runtime(const struct device *d, const struct options *o, const char *runtime, char **argv)
{
    char emulator[PATH_MAX];
    emulator_directory(emulator, sizeof emulator);
    if (d->emulated && o->device == DEVICE_GPU)
        fail(DEVICE_ERROR, "--device gpu: %s", d->why);
    if (d->emulated && (!emulator_loaded() || o->emulator_only)) /* it reads its environment when it is loaded */
        start_again(emulator, "emulator", d->why, argv);
    if (!d->emulated && emulator_loaded())
        start_again(runtime, "gpu", d->why, argv);
}

/* At most three processes: the first has the emulator loaded, the second NVIDIA's runtime; when there is a driver but no GPU that
 * works, the third has the emulator again. */
struct device choose_device(const struct options *o, char **argv)
{
    struct device d = {0};
    char runtime[PATH_MAX] = "";
    if (!chosen_before(&d)) {
        choose(&d, o, runtime, sizeof runtime);
        load_runtime(&d, o, runtime, argv);
    }
    if (!d.emulated && !gpu_starts(d.why, sizeof d.why)) {
        d.emulated = true;
        load_runtime(&d, o, runtime, argv);
    }
    if (!d.emulated && o->emulator_only)
        fail(BAD_USAGE, "%s works on the emulator only; add --device emulator", o->emulator_only);
    return d;
}

/* ---- what the chosen device says about itself ---- */

static void driver_release(char *out, size_t most)
{
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    int version = 0;
    if (file && fgets(out, (int)most, file))
        out[strcspn(out, "\n")] = '\0';
    else if (cudaDriverGetVersion(&version) == cudaSuccess)
        snprintf(out, most, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (file)
        fclose(file);
}

static size_t attribute_of(enum cudaDeviceAttr attribute)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, 0) != cudaSuccess)
        cudaGetLastError(); /* an attribute unknown to the device is no error of ours */
    return value > 0 ? (size_t)value : 0;
}

void device_properties(struct device *d)
{
    struct cudaDeviceProp properties;
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetDeviceProperties(&properties, 0));
    d->resident_threads = (unsigned)properties.multiProcessorCount * (unsigned)properties.maxThreadsPerMultiProcessor;
    snprintf(d->name, sizeof d->name, "%.255s", properties.name);
    if (d->emulated) {
        const char *(*description)(void);
        if (find(RTLD_DEFAULT, "emulator_description", &description))
            snprintf(d->description, sizeof d->description, "%s", description());
        return;
    }
    snprintf(d->description, sizeof d->description, "%s (%d SMs, compute capability %d.%d)", d->name,
             properties.multiProcessorCount, properties.major, properties.minor);
    driver_release(d->driver, sizeof d->driver);
    d->l2_bytes = attribute_of(cudaDevAttrL2CacheSize);
    /* the memory clock is in kHz and moves data on both edges; the bus width is in bits */
    d->peak_bytes_per_second =
        2e3 * (double)attribute_of(cudaDevAttrMemoryClockRate) * (double)attribute_of(cudaDevAttrGlobalMemoryBusWidth) / 8;
}

/* ---- the emulator's counters; by name, because a reference would tie the program to one runtime ---- */

size_t read_counters(struct emulator_counter *out, size_t most)
{
    size_t (*read)(struct emulator_counter *, size_t);
    size_t count = find(RTLD_DEFAULT, "emulator_counters", &read) ? read(out, most) : 0;
    return count < most ? count : most;
}

void reset_counters(void)
{
    void (*reset)(void);
    if (find(RTLD_DEFAULT, "emulator_counters_reset", &reset))
        reset();
}
