# The ladder of reductions. `make` alone lists the targets; README.md says more.
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The only list of steps, in ladder order.
STEPS := step0_naive step1_shared step2_nodiverge step3_nobank step4_halfblocks step5_halfthreads step6_warpunroll step7_fullunroll \
    step8_gridstride step9_shuffle step10_vectorload step11_onepass

# ---- what the command line may say ----
TYPE   ?= int#               int, float or double
CSV ?=#                     make validate writes its table there
DEVICE ?= auto#              auto, gpu or emulator
N      ?= 2^25#              sizes, as --n takes them
BLOCK  ?= 256#               threads a block, as --block takes them
REPEAT ?= 20
SEED   ?= 1
NVCC   ?=#                   an nvcc of CUDA 13, or of 12; otherwise CUDA_HOME, PATH, /usr/local/cuda, .venv
CUDA_HOME ?=
CUDA   ?=#                   wheel: the compiler from PyPI, whatever else there is
ARCH   ?= 75 80 86 89 90#    GPUs to make machine code for; all others from 7.5 on translate the PTX when they start
V      ?=#                   1: show the commands
BUILD  ?= build
SANITIZE ?=#                 set by `make sanitize`
ifneq ($(filter default undefined,$(origin CC)),)
CC := $(if $(shell command -v gcc),gcc,cc)
endif

override TYPE := $(strip $(TYPE))
override ARCH := $(strip $(ARCH))
Q := $(if $(filter 1,$(V)),,@)
SAY := @$(if $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS)))),:,echo)# nothing under make -s
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)# compile on all cores, unless the command line says otherwise
endif
ifeq ($(filter $(TYPE),int float double),)
$(error TYPE=$(TYPE) is not known; allowed are int, float and double)
endif

# ---- the CUDA compiler: looked for (and installed when missing) only if something is to be built ----
WITHOUT_NVCC := help clean handout doctor diffs diff% plot
SETUP := NVCC='$(NVCC)' CUDA_HOME='$(CUDA_HOME)' CUDA='$(strip $(CUDA))' sh common/setup.sh
ifneq ($(filter-out $(WITHOUT_NVCC),$(or $(MAKECMDGOALS),help)),)
TOOLKIT := $(shell $(SETUP) nvcc)
ifeq ($(TOOLKIT),)
$(error there is no CUDA 13 or 12 compiler; the lines above say why and what to do)
endif
else
TOOLKIT := $(or $(shell $(SETUP) find-nvcc 2>/dev/null),nvcc none none none)
endif
CUDA_NVCC    := $(word 1,$(TOOLKIT))
CUDA_INCLUDE := $(word 2,$(TOOLKIT))
CUDA_RUNTIME := $(word 3,$(TOOLKIT))
# The emulator stands in for the runtime of the toolkit that it is built with.
CUDA_MAJOR   := $(or $(filter 12 13,$(firstword $(subst ., ,$(word 4,$(TOOLKIT))))),13)
READABLE_PTX := $(if $(filter 12,$(CUDA_MAJOR)),--no-compress,--compress-mode=none)

# ---- flags ----
EMULATOR := $(BUILD)/emulator/libcudart.so.$(CUDA_MAJOR)
EMULATOR_NAME := $(BUILD)/emulator/libcudart.so# for the linker
OBJECTS  := $(BUILD)/$(TYPE)
# Programs stand in their step's folder, and find the emulator from there; those with sanitizers stay in their own tree.
PROGRAMS := $(if $(SANITIZE),$(BUILD)/)
RUNPATH  := $(if $(SANITIZE),,$$ORIGIN/../build/emulator:)$$ORIGIN/../emulator

WARNINGS  := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
comma     := ,
SANITIZER := $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
OPTIMISE  := $(if $(SANITIZE),-O1 -g,-O3)
DEPS       = -MMD -MP -MF $(@:.o=.d)

HARNESS_FLAGS := -std=c11 $(OPTIMISE) -ffp-contract=off $(WARNINGS) $(SANITIZER) -DTYPE_$(TYPE) -Icommon -isystem $(CUDA_INCLUDE) \
    -DEMULATOR_DIR='"$(RUNPATH)"' -DCUDART_DIR='"$(CUDA_RUNTIME)"' -DCOUNTERS_DIR='"$(CURDIR)/$(BUILD)/counters"'
# Without -fno-ipa-icf gcc 12 folds lane functions that are alike and leaves some of them empty (slct.s64, which wrote nothing).
EMULATOR_FLAGS := -std=c11 $(OPTIMISE) $(if $(findstring clang,$(CC)),,-fno-ipa-icf) -fPIC -fno-semantic-interposition -pthread -ffp-contract=off \
    -Wall -Wextra $(SANITIZER) $(if $(filter 12,$(CUDA_MAJOR)),-DCUDA_12) -isystem $(CUDA_INCLUDE)
GENCODE := $(if $(filter native,$(ARCH)),-gencode arch=native$(comma)code=native,\
    $(foreach a,$(ARCH),-gencode arch=compute_$(a)$(comma)code=sm_$(a))) -gencode arch=compute_75,code=compute_75
NVCC_FLAGS := -O3 -lineinfo $(GENCODE) $(READABLE_PTX) --threads 2 -DTYPE_$(TYPE) -Icommon -Xcompiler -Wall
LINK_FLAGS := -cudart none -Xlinker -rpath,'$(RUNPATH)' -Xlinker --enable-new-dtags $(if $(SANITIZE),-Xcompiler -fsanitize=address -Xcompiler -fsanitize=undefined)

# Everything is built again when a flag or a tool changes.
$(OBJECTS)/flags: CONTENT = $(CC) $(HARNESS_FLAGS) $(CUDA_NVCC) $(NVCC_FLAGS)
$(BUILD)/emulator/flags: CONTENT = $(CC) $(EMULATOR_FLAGS)
$(BUILD)/link_flags: CONTENT = $(TYPE) $(CUDA_NVCC) $(LINK_FLAGS)
$(OBJECTS)/flags $(BUILD)/emulator/flags $(BUILD)/link_flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(CONTENT))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(CONTENT))' > $@

.PHONY: FORCE help run test test-slow test-gpu test-programs accept coverage plot steps diffs doctor clean sanitize lint bench-emulator emulator
FORCE:

# ---- help ----
help:
	@echo 'make run              build and run every step, print one table     (sets up what is missing)'
	@echo 'make test             run all tests                                 (sets up what is missing)'
	@echo 'make step3            build one step; then ./step3/run, ./step3/run --help'
	@echo 'make step12           build the step for several GPUs, which has a harness of its own: ./step12/run --help'
	@echo 'make diff3            what changed from step 2 to step 3'
	@echo 'make diffs            how many lines change from step to step: added plus removed, the two header lines aside'
	@echo 'make grade EX=max     grade exercises/max/reduce.cu, or FILE=my.cu; the exercises: make grade'
	@echo 'make grade-all        a class: SUBMISSIONS=folder (docs/teaching.md)'
	@echo 'make test-exercises   solutions, wrong submissions and attempts to cheat: each scores what it should; K=max: one exercise'
	@echo 'make handout          a copy of the repository without solutions, for students'
	@echo 'make plot             speed-ups and counters as pictures            (sets up what is missing)'
	@echo 'make figures          what a block does, drawn from traces of the steps, into docs/pictures'
	@echo 'make report           build/report.html: the run, the pictures, what each line cost, the diffs; to hand in or to project'
	@echo 'make notebook         run notebooks/ladder.ipynb, which walks the ladder, from its first cell to its last'
	@echo 'make docs             write the generated parts of README.md, the lessons and docs/ anew'
	@echo 'make doctor           what this machine has and lacks, with a remedy for each'
	@echo 'make sanitize         every step with address and undefined-behaviour sanitizers, on the emulator'
	@echo 'make lint             warnings of gcc and clang as errors; cppcheck and clang-format where installed'
	@echo 'make bench            on a GPU: every step beside CUB, Thrust and PyTorch'
	@echo 'make bench-multi      on several GPUs: step 12 on one and on all, by one process and under mpirun'
	@echo 'make nccl             NCCL for step 12, from PyPI unless the system has it'
	@echo 'make variants         what else could end the sum, beside step 11, in build/variants'
	@echo 'make bench-emulator   how many warp instructions a second the emulator executes'
	@echo 'make bench-checks     how much longer the ladder takes under each check; N=2^20'
	@echo 'make test-gpu         the tests that need a GPU'
	@echo 'make golden           what a GPU gives for every instruction, recorded for the tests to replay'
	@echo 'make validate         the exact counters beside those of ncu, on a GPU; CSV=file keeps them'
	@echo 'make sanitizer-table  what compute-sanitizer says of the faults in tests/faults, on a GPU; CSV=file keeps it elsewhere'
	@echo 'make test-slow        the tests that take minutes'
	@echo 'make outside          CUB, Thrust and cooperative groups on the emulator; SAMPLES=folder: a checkout of cuda-samples too'
	@echo 'make accept           write the expected error messages of tests/errors anew'
	@echo 'make coverage         how many lines of the emulator the tests reach, file by file'
	@echo 'make fuzz             look for PTX and fatbinaries that the emulator cannot take; FUZZ_SECONDS=600 each'
	@echo 'make clean            remove what was built (.venv stays)'
	@echo 'Variables: TYPE=int|float|double DEVICE=auto|gpu|emulator N=2^25 BLOCK=256 REPEAT=20 SEED=1 ARCH="90 100" V=1'
	@echo '           CC=compiler NVCC=file CUDA_HOME=folder CUDA=wheel (the CUDA compiler from PyPI)'

# ---- the steps ----
HARNESS := $(patsubst common/%.c,$(OBJECTS)/common/%.o,$(wildcard common/*.c))

$(HARNESS): $(OBJECTS)/common/%.o: common/%.c $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(SAY) '  cc      $<'
	$(Q)$(CC) $(HARNESS_FLAGS) $(DEPS) -c $< -o $@

# The name, the folder before and the Watch line of the step in folder $(1), as the program learns them.
before = $(if $(filter $(1),$(STEPS)),$(lastword $(filter-out $(1),$(shell printf '%s\n' $(STEPS) | sed '/^$(1)$$/q'))))
watch  = $$(sed -n '2s|^ \* Watch: *\(.*[^. ]\)[. ]*\*/.*|\1|p' $(1))

$(OBJECTS)/%/reduce.o: %/reduce.cu $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) $(NVCC_FLAGS) -DSTEP_NAME='"$(notdir $*)"' -DSTEP_BEFORE='"$(call before,$*)"' -DSTEP_WATCH="\"$(call watch,$<)\"" \
	    $(DEPS) -c $< -o $@

# Any folder with a reduce.cu makes a program, not the steps alone: FOLDER/run.
$(PROGRAMS)%/run: $(OBJECTS)/%/reduce.o $(HARNESS) $(EMULATOR) $(BUILD)/link_flags
	@mkdir -p $(@D)
	$(Q)$(CUDA_NVCC) $(LINK_FLAGS) $(filter %.o,$^) $(EMULATOR_NAME) -lm -ldl -o $@
.PRECIOUS: $(OBJECTS)/%/reduce.o

STEP_PROGRAMS := $(STEPS:%=$(PROGRAMS)%/run)
steps: $(STEP_PROGRAMS)
print-steps: # for scripts: this Makefile holds the only list
	@echo $(STEPS)
.PHONY: print-steps print-runtime print-emulator
print-runtime:
	@echo $(CUDA_RUNTIME)
print-emulator:
	@echo $(EMULATOR)

# stepN builds the step and leaves a link to its folder; diffN shows what changed.
number = $(patsubst step%,%,$(firstword $(subst _, ,$(1))))
define step_targets
.PHONY: step$(call number,$(1)) diff$(call number,$(1))
step$(call number,$(1)): $(PROGRAMS)$(1)/run
	@ln -sfn $(1) $$@
diff$(call number,$(1)):
	@$(if $(2),diff -u $(2)/reduce.cu $(1)/reduce.cu || true,echo 'step 0 is the first; there is nothing before it' >&2; exit 2)
endef
$(foreach s,$(STEPS),$(eval $(call step_targets,$(s),$(call before,$(s)))))

# Step 12 has a harness of its own and is none of STEPS: `make run` has one device in mind.
MULTI_HARNESS := $(patsubst common/%.c,$(OBJECTS)/common/%.o,$(wildcard common/multi/*.c))
$(MULTI_HARNESS): $(OBJECTS)/common/multi/%.o: common/multi/%.c $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(SAY) '  cc      $<'
	$(Q)$(CC) $(HARNESS_FLAGS) -pthread $(DEPS) -c $< -o $@
STEP12_NAMES := -DSTEP_NAME='"step12_multigpu"' -DSTEP_BEFORE='"$(lastword $(STEPS))"' -DSTEP_WATCH='""'
$(OBJECTS)/step12_multigpu/multi.o: step12_multigpu/multi.cu $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) $(NVCC_FLAGS) $(STEP12_NAMES) $(DEPS) -c $< -o $@
$(PROGRAMS)step12_multigpu/run: $(OBJECTS)/step12_multigpu/multi.o $(MULTI_HARNESS) $(HARNESS) $(EMULATOR) $(BUILD)/link_flags
	@mkdir -p $(@D)
	$(Q)$(CUDA_NVCC) $(LINK_FLAGS) -Xcompiler -pthread $(filter %.o,$^) $(EMULATOR_NAME) -lm -ldl -o $@
step12: $(PROGRAMS)step12_multigpu/run
	@ln -sfn step12_multigpu $@
nccl:
	@$(SETUP) nccl
# For a machine with two GPUs or more (one shows that it works): every size and way to start, verified and timed.
bench-multi:
	@MAKE='$(MAKE)' ARCH='$(ARCH)' sh bench/multi.sh
.PHONY: step12 nccl bench-multi

diffs:
	@sh common/diffs.sh $(STEPS)

# ---- the emulator ----
# Built once for any processor, and on x86-64 once more for those with AVX2, which do 32 lanes in half the instructions: glibc's
# loader (2.33 and later) prefers what it finds in this folder beside the library, where the processor allows it.
EMULATOR_SOURCES := $(wildcard common/emulator/*.c)
EMULATOR_MAP     := $(BUILD)/emulator/cudart.map
EMULATOR_LINK    := -shared -pthread $(SANITIZER) -Wl,-soname,libcudart.so.$(CUDA_MAJOR) $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) \
    -Wl,--version-script=$(EMULATOR_MAP)
HAVE_V3 := $(if $(SANITIZE),,$(shell test $$(uname -m) = x86_64 && echo | $(CC) -march=x86-64-v3 -x c -fsyntax-only - 2>/dev/null && echo v3))
EMULATOR_V3 := $(if $(HAVE_V3),$(BUILD)/emulator/glibc-hwcaps/x86-64-v3/libcudart.so.$(CUDA_MAJOR))

emulator: $(EMULATOR)
$(EMULATOR_MAP): common/emulator/cudart.map $(BUILD)/emulator/flags
	$(Q)sed 's/MAJOR/$(CUDA_MAJOR)/' $< > $@
$(BUILD)/emulator/%.o: common/emulator/%.c $(BUILD)/emulator/flags
	$(SAY) '  cc      $<'
	$(Q)$(CC) $(EMULATOR_FLAGS) $(DEPS) -c $< -o $@
$(BUILD)/emulator/%.v3.o: common/emulator/%.c $(BUILD)/emulator/flags
	$(SAY) '  cc      $< (x86-64-v3)'
	$(Q)$(CC) $(EMULATOR_FLAGS) -march=x86-64-v3 $(DEPS) -c $< -o $@
$(EMULATOR): $(EMULATOR_SOURCES:common/emulator/%.c=$(BUILD)/emulator/%.o) $(EMULATOR_MAP) | $(EMULATOR_V3)
	$(Q)$(CC) $(EMULATOR_LINK) $(filter %.o,$^) -ldl -lm -o $@
	@ln -sfn $(@F) $(EMULATOR_NAME)
$(EMULATOR_V3): $(EMULATOR_SOURCES:common/emulator/%.c=$(BUILD)/emulator/%.v3.o) $(EMULATOR_MAP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EMULATOR_LINK) $(filter %.o,$^) -ldl -lm -o $@

# ---- run ----
# One step after another, also under make -j: they would disturb each other's times.
RUN_OPTIONS := --n '$(strip $(N))' --block '$(strip $(BLOCK))' --repeat '$(strip $(REPEAT))' --seed '$(strip $(SEED))' --device '$(strip $(DEVICE))'
run: steps
	@rm -f $(BUILD)/run.csv; failed=0; \
	for step in $(STEPS); do \
	    echo; ./$(PROGRAMS)$$step/run $(RUN_OPTIONS) --csv $(BUILD)/run.csv; status=$$?; \
	    if [ $$status -eq 2 ]; then exit 2; fi; if [ $$status -ne 0 ]; then failed=1; fi; \
	done; \
	echo; python3 plots/table.py $(BUILD)/run.csv || failed=1; exit $$failed

# ---- tests, plots ----
# Programs of the tests: ptx_run and ops_run run PTX that stands in files, rows knows the opcode table; must-fail kernels are linked
# as steps are; the others are CUDA programs of their own. PTX alone is enough for them.
TESTS := $(BUILD)/tests
MUST_FAIL := $(patsubst tests/mustfail/%.cu,$(TESTS)/mustfail/$(TYPE)/%,$(wildcard tests/mustfail/*.cu))
TEST_PROGRAMS := $(TESTS)/ptx_run $(TESTS)/ops_run
TEST_NVCC_FLAGS := -lineinfo -gencode arch=compute_75$(comma)code=compute_75 $(READABLE_PTX) -DTYPE_$(TYPE) -Icommon
TEST_LINK := -Xlinker -rpath,'$$ORIGIN/../emulator:$$ORIGIN/../../../emulator' -Xlinker --enable-new-dtags

$(TEST_PROGRAMS): $(TESTS)/%: tests/%.c tests/device.h $(EMULATOR)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -g -D_GNU_SOURCE $(WARNINGS) $(SANITIZER) -isystem $(CUDA_INCLUDE) $< -L$(BUILD)/emulator -lcudart -ldl \
	    -Wl,-rpath,'$$ORIGIN/../emulator' -o $@
$(TESTS)/rows: tests/rows.c $(EMULATOR_SOURCES:common/emulator/%.c=$(BUILD)/emulator/%.o)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 $(WARNINGS) -isystem $(CUDA_INCLUDE) -pthread $^ -ldl -lm -o $@
$(MUST_FAIL): $(TESTS)/mustfail/$(TYPE)/%: tests/mustfail/%.cu $(HARNESS) $(EMULATOR)
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) -O1 $(TEST_NVCC_FLAGS) -DSTEP_NAME='"$*"' -DSTEP_BEFORE='""' -DSTEP_WATCH='""' -c $< -o $@.o
	$(Q)$(CUDA_NVCC) -cudart none $(TEST_LINK) $@.o $(HARNESS) $(EMULATOR_NAME) -lm -ldl -o $@
$(TESTS)/hardware: tests/hardware/kernels.cu $(EMULATOR)
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) -O3 $(TEST_NVCC_FLAGS) -cudart none $(TEST_LINK) $< $(EMULATOR_NAME) -o $@
# Step 12 of each type, and a NCCL for emulated devices.
$(TESTS)/multi/$(TYPE)/run: step12_multigpu/multi.cu step11_onepass/reduce.cu $(MULTI_HARNESS) $(HARNESS) $(EMULATOR)
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) -O3 $(TEST_NVCC_FLAGS) $(STEP12_NAMES) -c $< -o $@.o
	$(Q)$(CUDA_NVCC) -cudart none $(TEST_LINK) -Xcompiler -pthread $@.o $(MULTI_HARNESS) $(HARNESS) $(EMULATOR_NAME) -lm -ldl -o $@
$(TESTS)/fake_nccl.so: tests/fake_nccl.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARNINGS) -shared -fPIC -isystem $(CUDA_INCLUDE) $< -o $@
multi-programs: $(TESTS)/multi/$(TYPE)/run $(TESTS)/fake_nccl.so
	+$(Q)for type in $(filter-out $(TYPE),int float double); do $(MAKE) --no-print-directory TYPE=$$type $(TESTS)/multi/$$type/run || exit 1; done
.PHONY: multi-programs

# Fuzzing: what reads PTX and fatbinaries has sanitizers, the rest of the emulator is as it is. In build/fuzz/libfuzzer are the targets
# for libFuzzer (FUZZ_CC, a clang), in build/fuzz/replay the same with a plain main (CC).
FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 600#         of `make fuzz`, for each target
FUZZ      := $(BUILD)/fuzz
FUZZED    := arena cfg decode fatbin link memory module ops ops_modify ptx_lex ptx_parse registers
NOT_FUZZED = $(filter-out $(FUZZED:%=$(BUILD)/emulator/%.o),$(EMULATOR_SOURCES:common/emulator/%.c=$(BUILD)/emulator/%.o))
FUZZ_FLAGS = -std=c11 -O1 -g -pthread -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
    -isystem $(CUDA_INCLUDE)
FUZZ_REPLAYS := $(FUZZ)/replay/ptx $(FUZZ)/replay/fatbin
FUZZ_TARGETS := $(FUZZ)/libfuzzer/ptx $(FUZZ)/libfuzzer/fatbin

$(FUZZED:%=$(FUZZ)/replay/%.o): $(FUZZ)/replay/%.o: common/emulator/%.c $(BUILD)/emulator/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_FLAGS) $(DEPS) -c $< -o $@
$(FUZZED:%=$(FUZZ)/libfuzzer/%.o): $(FUZZ)/libfuzzer/%.o: common/emulator/%.c $(BUILD)/emulator/flags
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(DEPS) -c $< -o $@
$(FUZZ_REPLAYS): $(FUZZ)/replay/%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(FUZZED:%=$(FUZZ)/replay/%.o) $(NOT_FUZZED)
	$(SAY) '  cc      $<'
	$(Q)$(CC) $(FUZZ_FLAGS) $^ -ldl -lm -o $@
$(FUZZ)/libfuzzer/ptx: tests/fuzz/mutate_ptx.c
$(FUZZ_TARGETS): $(FUZZ)/libfuzzer/%: tests/fuzz/fuzz_%.c $(FUZZED:%=$(FUZZ)/libfuzzer/%.o) $(NOT_FUZZED)
	$(SAY) '  clang   $<'
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $^ -ldl -lm -o $@

fuzz-seeds: $(TESTS)/ops_run
	@python3 tests/fuzz/seeds.py $(FUZZ)/seeds '$(CUDA_NVCC)' $<
fuzz: $(FUZZ_TARGETS) fuzz-seeds
	@for target in ptx fatbin; do \
	    mkdir -p $(FUZZ)/corpus/$$target; \
	    $(FUZZ)/libfuzzer/$$target -max_total_time=$(strip $(FUZZ_SECONDS)) -max_len=20000 -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 \
	        -dict=$(FUZZ)/seeds/dictionary -artifact_prefix=$(FUZZ)/found_$${target}_ \
	        $(FUZZ)/corpus/$$target $(FUZZ)/seeds/$$target $$(ls -d tests/fuzz/$$target 2>/dev/null) || exit 1; \
	done
# Only where the compilers can: tests/test_fuzz.py says what it skipped. The emulator comes first: a make inside this one would write
# the same objects at the same time.
can_link = echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' | $(1) -x c - -o $(FUZZ)/can_link 2>/dev/null
fuzz-programs: $(EMULATOR)
	@mkdir -p $(FUZZ)
	+$(Q)if $(call can_link,$(CC) -fsanitize=address$(comma)undefined -shared -fPIC); then $(MAKE) --no-print-directory $(FUZZ_REPLAYS); fi
	+$(Q)if $(call can_link,$(FUZZ_CC) -fsanitize=address$(comma)undefined$(comma)fuzzer); then $(MAKE) --no-print-directory $(FUZZ_TARGETS); fi
.PHONY: fuzz fuzz-seeds fuzz-programs
-include $(wildcard $(FUZZ)/*/*.d)

test-programs: variants multi-programs $(TEST_PROGRAMS) $(TESTS)/rows $(MUST_FAIL) $(TESTS)/hardware fuzz-programs
	+$(Q)$(MAKE) --no-print-directory TYPE=float $(TESTS)/mustfail/float/not_a_number
PYTEST = python=$$($(SETUP) python pytest) && CC='$(CC)' ARCH='$(ARCH)' NVCC='$(CUDA_NVCC)' CUDART_DIR='$(CUDA_RUNTIME)' $$python -m pytest -p no:cacheprovider
test: steps test-programs
	@$(PYTEST) -q tests -m 'not gpu and not slow'
test-slow: steps test-programs
	@$(PYTEST) -q tests -m slow
test-gpu: steps test-programs
	@$(PYTEST) -q tests -m gpu
# For a machine with a GPU: what it gives for every instruction, with edge values and random ones. tests/test_ops.py replays the file.
GOLDEN := tests/hardware/ops.test.xz
golden: $(TESTS)/ops_run
	@python3 tests/ops_reference.py --random 64 --seed 64 > $(BUILD)/golden.test
	@LD_LIBRARY_PATH='$(CUDA_RUNTIME)' $(TESTS)/ops_run --record $(BUILD)/golden.test > $(BUILD)/golden.recorded
	@head -1 $(BUILD)/golden.recorded | grep -q '^# Recorded on NVIDIA ' || { echo 'make golden needs an NVIDIA GPU' >&2; exit 3; }
	@python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), preset=9))' < $(BUILD)/golden.recorded > $(GOLDEN)
	@ls -l $(GOLDEN)
.PHONY: golden
# Writes the expected messages in tests/errors anew. Read the diff before you commit it.
accept: test-programs
	@$(PYTEST) -q tests/test_errors.py --accept
	@git --no-pager diff --stat -- tests/errors
# For a machine with a GPU and ncu: our exact counters beside the hardware's.
validate: emulator
	@python3 tests/validate/validate.py $(if $(CSV),--csv $(CSV))
.PHONY: validate
# For a machine with a GPU and compute-sanitizer: what its tools say of the faults in tests/faults, for docs/emulator.md.
sanitizer-table:
	@python3 tests/faults/sanitizer.py --nvcc '$(CUDA_NVCC)' $(if $(CSV),--csv $(CSV))
.PHONY: sanitizer-table
# Programs from outside: what tests/outside.py lists of NVIDIA's cuda-samples, from a checkout (SAMPLES=FOLDER), and our calls of the
# toolkit's CUB, Thrust and cooperative groups. Prints the table of docs/emulator.md; OUTSIDE=--help says what else it takes.
SAMPLES ?=
OUTSIDE ?=
outside: $(EMULATOR)
	@python3 tests/outside.py --nvcc '$(CUDA_NVCC)' $(if $(SAMPLES),--samples '$(strip $(SAMPLES))') $(OUTSIDE)
.PHONY: outside
plot:
	@python=$$($(SETUP) python matplotlib) && \
	    $$python plots/plot.py --out $(BUILD)/pictures $(wildcard $(BUILD)/run.csv) $(wildcard plots/recorded/*.csv) && \
	    $$python plots/comparison.py --out $(BUILD)/pictures $(firstword $(wildcard $(BENCH_CSV)) bench/h200.csv) && \
	    $$python plots/limits.py --out $(BUILD)/pictures

# How fast the emulator is: the ladder, and a kernel that computes and one that moves.
BENCHES := $(patsubst tests/bench/%.cu,$(BUILD)/bench/%,$(wildcard tests/bench/*.cu))
$(BENCHES): $(BUILD)/bench/%: tests/bench/%.cu $(EMULATOR) $(BUILD)/link_flags
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) $(NVCC_FLAGS) $(LINK_FLAGS) $< $(EMULATOR_NAME) -o $@
bench-emulator: steps $(BENCHES)
	@python3 tests/bench/bench.py --n '$(strip $(N))' $(BENCHES) -- $(STEP_PROGRAMS)

# How fast: beside step 11 its variants, in build/variants; and all of them, CUB, Thrust and PyTorch on a GPU, side by side.
VARIANTS := $(patsubst variants/%.cu,%,$(wildcard variants/*.cu))
BENCH_OPTIONS ?=#            of bench/bench.py, for `make bench`: --n, --types, --block, --l2, --repeat
BENCH_CSV     ?= $(BUILD)/bench.csv
$(OBJECTS)/variants/%.o: variants/%.cu $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(SAY) '  nvcc    $<'
	$(Q)$(CUDA_NVCC) $(NVCC_FLAGS) -DSTEP_NAME='"$*"' -DSTEP_BEFORE='"$(lastword $(STEPS))"' -DSTEP_WATCH="\"$(call watch,$<)\"" $(DEPS) -c $< -o $@
$(BUILD)/variants/%: $(OBJECTS)/variants/%.o $(HARNESS) $(EMULATOR) $(BUILD)/link_flags
	@mkdir -p $(@D)
	$(Q)$(CUDA_NVCC) $(LINK_FLAGS) $(filter %.o,$^) $(EMULATOR_NAME) -lm -ldl -o $@
.PRECIOUS: $(OBJECTS)/variants/%.o
variants: $(VARIANTS:%=$(BUILD)/variants/%)

CONTENDERS := $(STEPS) $(VARIANTS)
BENCH_ARCH    ?= native
BENCH_FLAGS = -O3 -arch=$(BENCH_ARCH) -Xcompiler -fPIC -std=c++17 -Icommon -Ibench $(addprefix -DTYPE_,$(1))
define bench_compile
@mkdir -p $(@D)
$(SAY) '  nvcc    $< ($(1))'
$(Q)$(CUDA_NVCC) $(call BENCH_FLAGS,$(1)) -Dmain=main_of_$* -Dreduce=reduce_of_$* -DSTEP_NAME='"$*"' -DSTEP_BEFORE='""' -DSTEP_WATCH='""' -c $< -o $@
endef
define bench_library
$(BUILD)/bench/$(1)/%.o: %/reduce.cu common/harness.h
	$$(call bench_compile,$(1))
$(BUILD)/bench/$(1)/%.o: variants/%.cu common/harness.h
	$$(call bench_compile,$(1))
$(BUILD)/bench/$(1)/contenders.o: bench/contenders.cu bench/measure.h common/harness.h
	@mkdir -p $$(@D)
	$$(SAY) '  nvcc    $$< ($(1))'
	$$(Q)$$(CUDA_NVCC) $$(call BENCH_FLAGS,$(1)) '-DCONTENDERS=$(foreach c,$(CONTENDERS),X(main_of_$(c)))' -c $$< -o $$@
$(BUILD)/bench/$(1)/%.o: bench/%.c bench/measure.h common/harness.h common/protocol.h
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(HARNESS_FLAGS) -UTYPE_$(TYPE) -DTYPE_$(1) -fPIC -Ibench -c $$< -o $$@
$(BUILD)/bench/$(1)/%.o: common/%.c common/harness.h common/protocol.h
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(HARNESS_FLAGS) -UTYPE_$(TYPE) -DTYPE_$(1) -fPIC -c $$< -o $$@
$(BUILD)/bench/$(1).so: $(CONTENDERS:%=$(BUILD)/bench/$(1)/%.o) $(addprefix $(BUILD)/bench/$(1)/,contenders.o measure.o random.o reference.o)
	$$(Q)$$(CUDA_NVCC) -shared -cudart shared -Xlinker -rpath,'$$(CUDA_RUNTIME)' $$^ -o $$@
endef
$(foreach t,int float double,$(eval $(call bench_library,$(t))))
bench: $(BUILD)/bench/int.so $(BUILD)/bench/float.so $(BUILD)/bench/double.so
	@BENCH_OPTIONS='$(strip $(BENCH_OPTIONS))' python3 bench/bench.py $(BUILD)/bench --csv $(BENCH_CSV) \
	    --toolkit $$($(CUDA_NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p') $(BENCH_OPTIONS)
.PHONY: variants bench

bench-checks: steps
	@python3 tests/bench/bench.py --checks --n '$(if $(filter file,$(origin N)),2^20,$(strip $(N)))' -- $(STEP_PROGRAMS)
.PHONY: bench-checks

# Goals named together keep this order: nothing else runs while steps are timed.
ifneq ($(filter run,$(MAKECMDGOALS)),)
test test-slow test-gpu plot bench bench-emulator: | run
endif

doctor:
	@CC='$(CC)' $(SETUP:%common/setup.sh=%common/doctor.sh)

# ---- checks of our own code ----
sanitize:
	+$(Q)$(MAKE) --no-print-directory BUILD=build/sanitize SANITIZE=1 steps build/sanitize/tests/ptx_run build/sanitize/tests/ops_run
	@for step in $(STEPS); do \
	    ./build/sanitize/$$step/run --n 0-300,1000003 --device emulator --quiet && echo "$$step: clean" || exit 1; \
	done
	@export ASAN_OPTIONS=detect_leaks=0; \
	build/sanitize/tests/ops_run tests/ops.test > build/sanitize/ops.out && echo 'tests/ops.test: clean' || exit 1; \
	for file in tests/kernels/*.ptx; do build/sanitize/tests/ptx_run $$file || exit 1; done; echo 'tests/kernels: clean'; \
	for file in tests/errors/*.ptx; do \
	    env $$(sed -n 's,^//: env ,,p' $$file) build/sanitize/tests/ptx_run $$file 2> build/sanitize/errors.out; \
	    case $$? in 0 | 86) ;; *) cat build/sanitize/errors.out; exit 1 ;; esac; \
	done; echo 'tests/errors: clean'

# The emulator built to count its lines, and the tests that run kernels and programs run on it.
COVERING := $(wildcard $(patsubst %,tests/test_%.py,ops kernels errors programs faults observers machine_code hardware harness))
coverage: steps test-programs
	+$(Q)$(MAKE) --no-print-directory BUILD=build/coverage CC=gcc SANITIZER='--coverage -include tests/covered.h' OPTIMISE=-O1 HAVE_V3= emulator
	@mkdir -p build/coverage/steps/build; ln -sfn ../../emulator build/coverage/steps/build/emulator
	@for step in $(STEPS); do mkdir -p build/coverage/steps/$$step; cp $$step/run build/coverage/steps/$$step/run; done
	@find build/coverage -name '*.gcda' -delete; export COVERED_EMULATOR='$(CURDIR)/build/coverage/emulator'; \
	    $(PYTEST) -q $(COVERING) -m 'not gpu and not slow' > build/coverage/tests.out || { tail -n 20 build/coverage/tests.out; exit 1; }; \
	    tail -n 1 build/coverage/tests.out; python3 tests/coverage.py build/coverage/emulator

# cppcheck does not come to an end with ops_lane.c, where one table expands into some thousand functions.
C_SOURCES := $(wildcard common/*.c common/multi/*.c common/emulator/*.c)
# clang-format has no form for lists that are macros: these keep the one they have.
TABLES := ptx.h ops.h ops.c ops_lane.c ops_half.h ops_memory.c
lint:
	@for cc in gcc clang; do \
	    command -v $$cc >/dev/null || { echo "$$cc is not installed"; continue; }; \
	    for type in int float double; do for file in $(wildcard common/*.c common/multi/*.c); do \
	        $$cc -std=c11 -O2 $(WARNINGS) -Werror -DTYPE_$$type -Icommon -isystem $(CUDA_INCLUDE) -c $$file -o /dev/null || exit 1; \
	    done; done; \
	    for file in $(EMULATOR_SOURCES); do \
	        $$cc -std=c11 -O2 -fPIC -pthread -Wall -Wextra -Werror -isystem $(CUDA_INCLUDE) -c $$file -o /dev/null || exit 1; \
	    done; echo "$$cc: no warnings"; \
	done
	@if command -v cppcheck >/dev/null; then \
	    cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability --suppress=missingInclude \
	        -Icommon $(filter-out %/ops_lane.c,$(C_SOURCES)) && echo 'cppcheck: nothing found, ops_lane.c left out'; else echo 'cppcheck is not installed'; fi
	@if command -v clang-format >/dev/null; then \
	    clang-format --dry-run -Werror $(filter-out $(TABLES:%=common/emulator/%),$(C_SOURCES) $(wildcard common/*.h common/multi/*.h common/emulator/*.h)) exercises/driver.c step12_multigpu/multi.cu $(STEPS:%=%/reduce.cu) && \
	    echo 'clang-format: as agreed'; else echo 'clang-format is not installed'; fi

clean:
	rm -rf build $(STEPS:%=%/run) $(foreach s,$(STEPS),step$(call number,$(s)))

-include $(wildcard $(OBJECTS)/*/*.d $(OBJECTS)/common/multi/*.d $(BUILD)/emulator/*.d)

# ---- exercises ----
# EX=max [FILE=my.cu]: one file; SUBMISSIONS=folder: a class, FOLDER/STUDENT/EXERCISE.cu; docs/teaching.md says more.
EX          ?=
FILE        ?=
SUBMISSIONS ?=
OUT         ?= graded#       where grade-all writes its results and its journal
JOBS        ?= $(shell nproc 2>/dev/null || echo 2)
GRADE_SEED  ?=#              the inputs' seed; otherwise it is drawn, and printed
SEED_FILE   ?=#              a hidden seed and hidden sizes
K           ?=#              which exercise make test-exercises tests
GRADE_FLAGS ?=#              further options of exercises/grade.py
GRADE = CC='$(CC)' NVCC='$(CUDA_NVCC)' CUDART_DIR='$(CUDA_RUNTIME)' python3 exercises/grade.py
quoted = '$(subst ','\'',$(1))'#    a word of the shell's, whatever stands in it
GRADE_OPTIONS := $(if $(filter-out auto,$(DEVICE)),--device '$(strip $(DEVICE))') $(if $(strip $(GRADE_SEED)),--seed '$(strip $(GRADE_SEED))') $(if $(strip $(SEED_FILE)),--seed-file $(call quoted,$(strip $(SEED_FILE)))) $(GRADE_FLAGS)

.PHONY: grade grade-all grade-class-demo test-exercises handout
grade: $(EMULATOR)
	@[ -n $(call quoted,$(EX)) ] || { echo 'make grade EX=NAME [FILE=my.cu] grades one of these:'; python3 exercises/grade.py list; }
	@[ -z $(call quoted,$(EX)) ] || $(GRADE) one $(GRADE_OPTIONS) -- $(call quoted,$(EX)) $(if $(FILE),$(call quoted,$(FILE)))
grade-all: $(EMULATOR)
	@[ -n $(call quoted,$(SUBMISSIONS)) ] || { echo 'say where the submissions are: make grade-all SUBMISSIONS=FOLDER, with FOLDER/STUDENT/EXERCISE.cu' >&2; exit 2; }
	@$(GRADE) all --out $(call quoted,$(strip $(OUT))) --jobs '$(strip $(JOBS))' $(GRADE_OPTIONS) -- $(call quoted,$(SUBMISSIONS))

# 200 submissions of all kinds, graded without and with interruptions, and compared.
grade-class-demo: $(EMULATOR)
	@CC='$(CC)' NVCC='$(CUDA_NVCC)' python3 tests/class_of_200.py --jobs '$(strip $(JOBS))'
# Solutions earn all points, wrong submissions lose what they should, attempts to cheat gain nothing; `make test` does this too.
test-exercises: $(EMULATOR)
	@$(PYTEST) -q tests/test_exercises.py -m 'not gpu and not slow' $(if $(K),-k $(call quoted,$(K)))

# A copy for students: everything under version control except solutions, attempts to cheat and what tests them, and without
# the folded answers (<details> ... </details>) of the lessons.
handout:
	@sh exercises/handout.sh '$(BUILD)/handout.tar.gz'

# ---- lessons ----
# Pictures and numbers of the pages come from running the steps; tests/test_docs.py compares them.
.PHONY: figures docs
figures: steps
	@python3 plots/figures.py
docs: steps
	@CUDA_HOME='$(CUDA_HOME)' NVCC='$(CUDA_NVCC)' python3 plots/docs.py

# One HTML page about `make run`, and the notebook, run from its first cell to its last.
.PHONY: report notebook
report: run
	@python3 plots/report.py
notebook: steps
	@python=$$($(SETUP) python ipykernel && $(SETUP) python nbclient && $(SETUP) python pytest) && \
	    NVCC='$(CUDA_NVCC)' $$(echo "$$python" | tail -n 1) -m pytest -p no:cacheprovider -q -rs tests/test_notebook.py
