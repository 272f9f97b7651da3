/* The protocol over several devices: options, device, ranks, allocate; then for every size and block: make the numbers, reduce
 * every shard, combine, verify, time, verify again, report. Rank 0 judges and speaks; exit statuses are those of every step. */
#include "multi/parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- options: ours are taken out, the rest is for parse_options ---- */

static void print_own_help(void)
{
    printf(
        "Sums over several devices. Started by itself, one process drives them all; started by mpirun, each process drives one.\n"
        "  --devices COUNT     how many devices to use (all); under mpirun a process has one\n"
        "  --from PLACE        device: the numbers are on the devices; host: they are copied first, and that is timed too;\n"
        "                      overlap: copied in chunks, each summed while the next is copied  (device)\n"
        "  --chunk MIB         the size of a chunk, 1 to 1024 (16)\n"
        "  --wait SECONDS      how long a rank or a device may keep the others waiting, 1 to 86400 (60)\n"
        "  --meet HOST:PORT    where rank 0 listens, if mpirun starts processes on several hosts\n");
}

static unsigned whole_number(const char *option, const char *value, unsigned most)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number < 1 || number > most)
        fail(BAD_USAGE, "%s '%s' is not allowed; it takes a whole number from 1 to %u", option, value, most);
    return (unsigned)number;
}

static enum from place_of(const char *value)
{
    static const char *const names[] = {"device", "host", "overlap"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0)
            return (enum from)i;
    fail(BAD_USAGE, "--from '%s' is not known; allowed are device, host and overlap", value);
}

static void set_own(struct own_options *o, const char *option, const char *value)
{
    if (strcmp(option, "--devices") == 0)
        o->devices = whole_number(option, value, DEVICES_MOST);
    else if (strcmp(option, "--from") == 0)
        o->from = place_of(value);
    else if (strcmp(option, "--chunk") == 0)
        o->chunk = ((size_t)whole_number(option, value, 1024) << 20) / sizeof(element);
    else if (strcmp(option, "--wait") == 0)
        o->wait = whole_number(option, value, 86400);
    else
        o->meet = value;
}

/* Takes our options out of argv; returns how many words are left. */
static int parse_own(struct own_options *o, int argc, char **argv)
{
    static const char *const names[] = {"--devices", "--from", "--chunk", "--wait", "--meet"};
    int left = 0;
    for (int i = 0; i < argc; i++) {
        const char *name = NULL;
        size_t length = strcspn(argv[i], "=");
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strlen(names[k]) == length && strncmp(argv[i], names[k], length) == 0)
                name = names[k];
        if (i > 0 && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            print_own_help();
        if (i > 0 && strcmp(argv[i], "--collective") == 0) {
            o->collective = true;
            continue;
        }
        if (!name) {
            argv[left++] = argv[i];
            continue;
        }
        if (argv[i][length] == '\0' && i + 1 == argc)
            fail(BAD_USAGE, "%s needs a value; --help says which", name);
        set_own(o, name, argv[i][length] ? argv[i] + length + 1 : argv[i + 1]);
        i += argv[i][length] ? 0 : 1;
    }
    argv[left] = NULL;
    return left;
}

static void read_command_line(struct run *run)
{
    char **words = malloc((size_t)(run->argc + 1) * sizeof *words);
    if (!words)
        fail(DEVICE_ERROR, "no memory for the command line");
    memcpy(words, run->argv, (size_t)(run->argc + 1) * sizeof *words);
    run->own = (struct own_options){.wait = 60, .chunk = ((size_t)16 << 20) / sizeof(element)};
    int left = parse_own(&run->own, run->argc, words);
    run->options = parse_options(left, words, &run->step->step);
    if (run->options.alloc != ALLOC_DEVICE)
        fail(BAD_USAGE, "--alloc is for the steps of one device; here --from says where the numbers start");
    if (run->ranks.by_mpirun && run->own.devices)
        fail(BAD_USAGE, "--devices is for one process that drives them all; under mpirun the number of processes says how many");
    free(words);
}

/* ---- devices ---- */

/* Ranks must agree on what they sum, and on what. */
static unsigned kind_of(const struct run *run)
{
    unsigned hash = (unsigned)sizeof(element) * 4 + (unsigned)TYPE_IS_INT * 2 + run->device.emulated;
    for (int i = 1; i < run->argc; i++)
        for (const char *c = run->argv[i]; *c; c++)
            hash = hash * 31 + (unsigned char)*c;
    return hash;
}

static int devices_here(const struct run *run)
{
    int there = 0;
    CUDA(cudaGetDeviceCount(&there));
    if (run->ranks.by_mpirun && !run->device.emulated && run->ranks.local >= there)
        fail(DEVICE_ERROR, "rank %d is process %d of its host, which has %d GPUs; start at most one process a GPU", run->ranks.rank,
             run->ranks.local + 1, there);
    if (run->own.devices > (unsigned)there)
        fail(DEVICE_ERROR, "--devices %u: there %s %d%s", run->own.devices, there == 1 ? "is" : "are", there,
             run->device.emulated ? "; EMULATOR_DEVICES says how many are emulated, 1 to 16" : "");
    there = there < DEVICES_MOST ? there : DEVICES_MOST;
    return run->ranks.by_mpirun ? 1 : run->own.devices ? (int)run->own.devices : there;
}

static void say(const struct run *run, const char *sentence)
{
    if (!run->options.quiet && run->ranks.rank == 0)
        printf("combined: %s\n", sentence);
    fflush(stdout); /* a run of many devices may be slow, or hang */
}

/* How the sums of all devices become one; may leave this process with one device. */
static void choose_combination(struct run *run)
{
    char why[256] = "", sentence[512];
    bool wanted = !run->device.emulated || getenv("REDUCTION_NCCL");
    bool nccl = wanted && nccl_load(why, sizeof why);
    bool alone = run->shard_count * run->ranks.size == 1;
    run->combined = nccl ? BY_NCCL : !wanted && !alone ? BY_HOST : BY_NOBODY;
    if (nccl)
        snprintf(sentence, sizeof sentence, "by NCCL %s%s", nccl_version(),
                 alone ? "; there is one GPU, so it has nothing to add" : "");
    else if (!wanted)
        snprintf(sentence, sizeof sentence,
                 alone ? "one emulated device, nothing to combine" : "on the host: emulated devices have no NCCL");
    else if (run->ranks.size > 1)
        fail(DEVICE_ERROR, "rank %d: NCCL is missing (%s), and nothing else combines GPUs of several processes", run->ranks.rank,
             why);
    else
        snprintf(sentence, sizeof sentence, "NCCL is missing (%s), so the step runs on one device", why);
    if (run->combined == BY_NOBODY)
        run->shard_count = 1;
    run->devices = run->shard_count * run->ranks.size;
    say(run, sentence);
}

static size_t most_of_a_shard(const struct run *run)
{
    return shard_size(largest_size(&run->options), run->devices, 0);
}

static void allocate(struct run *run)
{
    size_t most = most_of_a_shard(run), here = (size_t)run->shard_count;
    size_t host = (most * here + 1) * sizeof(element), on_device = shard_bytes(most, run->own.from, run->own.chunk, &run->device);
    size_t processes = (size_t)run->ranks.local_size;
    for (int i = 0; i < run->shard_count; i++) {
        struct shard *s = &run->shards[i];
        s->device = run->ranks.by_mpirun && !run->device.emulated ? run->ranks.local : i;
        s->from = run->own.from;
        s->chunk = run->own.chunk;
        CUDA(cudaSetDevice(s->device));
        if (run->device.emulated && i == 0)
            require_memory((host + on_device * here) * processes - on_device, on_device, true);
        else
            require_memory(i == 0 ? host * processes : 0, on_device, run->device.emulated);
        shard_open(s, most, &run->device);
    }
    CUDA(cudaHostAlloc((void **)&run->host, host, cudaHostAllocPortable)); /* pinned: other memory is not copied while we compute */
}

static void start(struct run *run)
{
    run->device = choose_device(&run->options, run->argv);
    device_properties(&run->device);
    if (!run->options.quiet && run->ranks.rank == 0)
        report_device(&run->device);
    ranks_join(&run->ranks, run->own.meet, run->own.wait, kind_of(run));
    watch_start(run->own.wait);
    run->shard_count = devices_here(run);
    choose_combination(run);
    if (run->own.collective && run->combined != BY_NCCL)
        fail(DEVICE_ERROR, "--collective needs NCCL, which is not in use here");
    allocate(run);
    ranks_barrier(); /* whoever has no memory has said so before anybody waits in NCCL */
    watch("NCCL's start");
    if (run->combined == BY_NCCL && run->ranks.by_mpirun)
        nccl_start_rank(&run->ranks);
    else if (run->combined == BY_NCCL)
        nccl_start_all(run->shard_count);
    watch(NULL);
}

static void stop(struct run *run)
{
    if (run->combined == BY_NCCL)
        nccl_stop();
    for (int i = 0; i < run->shard_count; i++)
        shard_close(&run->shards[i]);
    CUDA(cudaFreeHost(run->host));
    free(run->options.sizes);
    if (run->csv)
        fclose(run->csv);
}

/* ---- one sum ---- */

static const element *host_of(const struct run *run, const struct shard *s)
{
    return run->host + (s->first - run->shards[0].first);
}

static total value_at(const total *on_device)
{
    total value;
    CUDA(cudaMemcpy(&value, on_device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

void wait_for_all(struct run *run)
{
    for (int i = 0; i < run->shard_count; i++) {
        cudaError_t error;
        CUDA(cudaSetDevice(run->shards[i].device));
        while ((error = cudaStreamQuery(run->shards[i].compute)) == cudaErrorNotReady) {
            cudaGetLastError(); /* "not ready" is kept as the last error, and the next launch would seem to have failed */
            if (run->combined == BY_NCCL)
                nccl_check(i);
        }
        if (error != cudaSuccess)
            fail(DEVICE_ERROR, "the kernel on device %d failed: %s (%s)", run->shards[i].device, cudaGetErrorString(error),
                 cudaGetErrorName(error));
        if (run->combined == BY_NCCL)
            nccl_check(i);
    }
}

static void combine_by_nccl(struct run *run)
{
    nccl_group_start(); /* one thread calls for several devices: without a group the first call would wait for the second */
    for (int i = 0; i < run->shard_count; i++)
        nccl_sum(i, shard_sum(&run->shards[i]), run->shards[i].whole, 1, run->shards[i].compute);
    nccl_group_end();
}

/* The sums of all, one after another in the order of the devices; everybody gets the result. */
static void combine_on_host(struct run *run)
{
    total here = 0, all[run->ranks.size], whole = 0;
    for (int i = 0; i < run->shard_count; i++)
        here = i == 0 ? value_at(shard_sum(&run->shards[i])) : here + value_at(shard_sum(&run->shards[i]));
    ranks_gather(&here, all, sizeof here);
    for (int rank = 0; run->ranks.rank == 0 && rank < run->ranks.size; rank++)
        whole += all[rank];
    ranks_broadcast(&whole, sizeof whole);
    for (int i = 0; i < run->shard_count; i++)
        CUDA(cudaMemcpy(run->shards[i].whole, &whole, sizeof whole, cudaMemcpyHostToDevice));
}

static void sum_once(struct run *run, unsigned block)
{
    for (int i = 0; i < run->shard_count; i++)
        shard_prepare(&run->shards[i]);
    ranks_barrier();
    watch(run->combined == BY_NCCL ? "the sum over all devices" : NULL); /* an emulated kernel may take its time */
    for (int i = 0; i < run->shard_count; i++)
        shard_reduce(&run->shards[i], host_of(run, &run->shards[i]), run->step, block, run->device.resident_threads);
    if (run->combined == BY_NCCL)
        combine_by_nccl(run);
    for (int i = 0; i < run->shard_count; i++) {
        CUDA(cudaSetDevice(run->shards[i].device));
        CUDA(cudaEventRecord(run->shards[i].combined, run->shards[i].compute));
    }
    wait_for_all(run);
    watch(NULL);
    if (run->combined != BY_NCCL)
        combine_on_host(run);
}

/* ---- verification and times ---- */

static double microseconds(cudaEvent_t from, cudaEvent_t to)
{
    float milliseconds;
    CUDA(cudaEventElapsedTime(&milliseconds, from, to));
    return (double)milliseconds * 1e3;
}

/* What rank 0 gets of every shard, in order; a process alone has them all itself. */
void gather_parts(struct run *run, const struct part *mine, struct part *all)
{
    if (run->ranks.size == 1)
        memcpy(all, mine, (size_t)run->devices * sizeof *all);
    else
        ranks_gather(mine, all, sizeof *mine);
}

static void make_numbers(struct run *run, size_t n, struct part *mine)
{
    size_t here = 0;
    for (int i = 0; i < run->shard_count; i++) {
        int which = run->ranks.by_mpirun ? run->ranks.rank : i;
        run->shards[i].first = shard_first(n, run->devices, which);
        run->shards[i].n = shard_size(n, run->devices, which);
        here += run->shards[i].n;
    }
    random_fill_from(run->host, run->shards[0].first, here, run->options.seed);
    for (int i = 0; i < run->shard_count; i++) {
        const element *host = host_of(run, &run->shards[i]);
        shard_fill(&run->shards[i], host);
        mine[i].want = reference_sum(host, run->shards[i].n);
    }
}

static void complain(const struct result *r, const char *what, int device, total got, struct reference want)
{
    fflush(stdout);
    fprintf(stderr, "%s: n = %zu, block %u: %s device %d is wrong: got ", r->step->name, r->n, r->block, what, device);
    print_total(stderr, got);
    fprintf(stderr, ", want ");
    print_total(stderr, want.sum);
    if (!TYPE_IS_INT)
        fprintf(stderr, " within %.3g", want.bound);
    fprintf(stderr, "\n");
}

static void check(struct verdict *v, const struct result *r, const char *what, int device, total got, struct reference want)
{
    if (agrees(got, want))
        return;
    v->wrong++;
    complain(r, what, device, got, want);
}

/* Every shard's sum, and the whole sum on every device. */
static struct verdict judge(const struct run *run, const struct result *r, const struct part *parts)
{
    struct verdict v = {.sums = 2 * (size_t)run->devices, .sum = parts[0].whole};
    size_t additions = 0;
    for (int i = 0; i < run->devices; i++) {
        struct reference want = parts[i].want;
        want.bound = error_bound(want.magnitude, parts[i].additions, true);
        check(&v, r, "the shard's sum on", i, parts[i].sum, want);
        add_reference(&v.reference, parts[i].want);
        additions = parts[i].additions > additions ? parts[i].additions : additions;
        v.guard_overwritten += parts[i].guard_overwritten;
    }
    v.reference.bound = error_bound(v.reference.magnitude, additions + (size_t)run->devices - 1, true);
    for (int i = 0; i < run->devices; i++)
        check(&v, r, "the whole sum on", i, parts[i].whole, v.reference);
    if (v.guard_overwritten)
        fprintf(stderr, "%s: n = %zu, block %u: a kernel wrote past its last sum\n", r->step->name, r->n, r->block);
    return v;
}

static bool verify(struct run *run, struct result *r, struct part *mine)
{
    struct part all[run->devices];
    bool good = false;
    for (int i = 0; i < run->shard_count; i++) {
        struct shard *s = &run->shards[i];
        CUDA(cudaSetDevice(s->device));
        mine[i].sum = value_at(shard_sum(s));
        mine[i].whole = value_at(s->whole);
        mine[i].additions = shard_additions(s, run->step, r->block, run->device.resident_threads);
        mine[i].guard_overwritten = shard_guard_overwritten(s);
    }
    gather_parts(run, mine, all);
    if (run->ranks.rank == 0) {
        r->verdict = judge(run, r, all);
        good = is_verified(&r->verdict);
    }
    ranks_broadcast(&good, sizeof good);
    return good;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double *values, unsigned count, double part)
{ /* between neighbours in proportion */
    qsort(values, count, sizeof *values, by_value);
    unsigned below = (unsigned)(part * (count - 1)), above = below + 1 < count ? below + 1 : below;
    return values[below] + (part * (count - 1) - below) * (values[above] - values[below]);
}

/* The slowest device's times; but of the collective the shortest, which is that of the device that came last and waited for nobody.
 */
static struct part times_of_one(struct run *run, unsigned block, struct part *mine)
{
    struct part all[run->devices], worst = {.collective_us = 1e30};
    sum_once(run, block);
    for (int i = 0; i < run->shard_count; i++) {
        const struct shard *s = &run->shards[i];
        CUDA(cudaSetDevice(s->device));
        mine[i].all_us = microseconds(s->start, s->combined);
        mine[i].kernel_us = microseconds(s->start, s->reduced);
        mine[i].collective_us = microseconds(s->reduced, s->combined);
    }
    gather_parts(run, mine, all);
    for (int i = 0; run->ranks.rank == 0 && i < run->devices; i++) {
        worst.all_us = all[i].all_us > worst.all_us ? all[i].all_us : worst.all_us;
        worst.kernel_us = all[i].kernel_us > worst.kernel_us ? all[i].kernel_us : worst.kernel_us;
        worst.collective_us = all[i].collective_us < worst.collective_us ? all[i].collective_us : worst.collective_us;
    }
    return worst;
}

/* Returns the median of the kernels' times, with the copies if the numbers start on the host. */
static double time_all(struct run *run, struct result *r, struct part *mine)
{
    unsigned repeat = run->options.repeat;
    double *us = malloc(3 * repeat * sizeof *us);
    if (!us)
        fail(DEVICE_ERROR, "no memory for %u times", repeat);
    double *kernel = us + repeat, *collective = us + 2 * repeat;
    for (unsigned i = 0; i < WARM_UPS; i++)
        times_of_one(run, r->block, mine);
    for (unsigned i = 0; i < repeat; i++) {
        struct part one = times_of_one(run, r->block, mine);
        us[i] = one.all_us;
        kernel[i] = one.kernel_us;
        collective[i] = one.collective_us;
    }
    r->timing = (struct timing){.count = repeat, .median = quantile(us, repeat, 0.5), .minimum = us[0]};
    r->timing.q1 = quantile(us, repeat, 0.25);
    r->timing.q3 = quantile(us, repeat, 0.75);
    r->timing.collective = quantile(collective, repeat, 0.5);
    double median = quantile(kernel, repeat, 0.5);
    free(us);
    return median;
}

/* ---- report ---- */

static void report_times(const struct run *run, const struct result *r, double kernel)
{
    static const char *const with[] = {"the kernels", "copies and kernels", "copies and kernels, overlapped"};
    const struct timing *t = &r->timing;
    printf("time:   %.2f us, the median of %u runs (fastest %.2f, half of them between %.2f and %.2f): %s %.2f us, the collective "
           "%.2f us, %.1f %%\n",
           t->median, t->count, t->minimum, t->q1, t->q3, with[run->own.from], kernel, t->collective,
           100 * t->collective / t->median);
    double rate = (double)r->n * sizeof(element) / t->median / 1e3;
    printf("rate:   %.1f GB/s", rate);
    if (r->device->peak_bytes_per_second > 0)
        printf(", %.1f %% of what the memory of %u such %s can give", rate * 1e11 / r->device->peak_bytes_per_second, r->devices,
               r->devices == 1 ? "device" : "devices");
    printf(" (measured on %s)\n", r->device->name);
}

static void report(const struct run *run, const struct result *r, double kernel)
{
    printf("%s: n = %zu %ss of seed %llu on %d device%s, %zu each at most, block %u\n", r->step->name, r->n, TYPE_NAME,
           (unsigned long long)r->seed, run->devices, run->devices == 1 ? "" : "s", shard_size(r->n, run->devices, 0), r->block);
    printf("sum:    ");
    print_total(stdout, r->verdict.sum);
    if (is_verified(&r->verdict))
        printf(", verified: every shard's sum and the whole sum %s\n",
               TYPE_IS_INT ? "equal their references" : "are within their error bounds");
    else
        printf(", WRONG\n");
    if (r->timing.count)
        report_times(run, r, kernel);
}

/* ---- the protocol ---- */

static bool measure(struct run *run, size_t n, unsigned block)
{
    struct emulator_counter counters[128];
    struct part mine[DEVICES_MOST] = {0};
    struct device all = run->device;
    struct result r = {.step = &run->step->step,
                       .device = &all,
                       .n = n,
                       .block = block,
                       .seed = run->options.seed,
                       .devices = (unsigned)run->devices};
    double kernel = 0;
    all.peak_bytes_per_second *= run->devices;
    make_numbers(run, n, mine);
    reset_counters();
    sum_once(run, block);
    bool good = verify(run, &r, mine);
    r.counter_count = run->ranks.size == 1 ? read_counters(counters, sizeof counters / sizeof *counters) : 0;
    r.counters = counters;
    if (good && !run->device.emulated && run->options.repeat > 0) {
        kernel = time_all(run, &r, mine);
        good = verify(run, &r, mine);
    }
    if (run->ranks.rank == 0 && (!run->options.quiet || !good))
        report(run, &r, kernel);
    if (run->csv)
        csv_row(run->csv, &r, run->argc, run->argv);
    return good;
}

static bool measure_all(struct run *run)
{
    const struct options *o = &run->options;
    bool all_verified = true;
    for (size_t block = 0; block < o->block_count; block++)
        for (size_t i = 0; i < o->size_ranges; i++)
            for (size_t n = o->sizes[i].first;; n++) {
                all_verified &= run->own.collective ? measure_collective(run, n) : measure(run, n, o->blocks[block]);
                if (n == o->sizes[i].last)
                    break;
            }
    return all_verified;
}

int run_multi(int argc, char **argv, const struct multi_step *step)
{
    static struct run run;
    fail_name(step->step.name);
    run = (struct run){.step = step, .argc = argc, .argv = argv, .ranks = ranks_found()};
    read_command_line(&run);
    run.csv = run.options.csv && run.ranks.rank == 0 ? csv_open(run.options.csv) : NULL;
    start(&run);
    bool all_verified = measure_all(&run);
    stop(&run);
    return all_verified ? VERIFIED : WRONG_RESULT;
}
