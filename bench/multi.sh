#!/bin/sh
# Step 12 on this machine's GPUs: `make bench-multi`. Every measurement is verified too. Writes build/multi.csv anew; ends at the first
# failure. Strong scaling: the same n on one GPU (step 11, and step 12) and on all. Weak: n a GPU. Then mpirun, if it is there, numbers
# that start on the host, and a rank that is killed.
set -u
cd "$(dirname "$0")/.." || exit 1
csv=build/multi.csv
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -ge 1 ] || { echo 'bench-multi: nvidia-smi names no GPU here' >&2; exit 3; }
rm -f $csv
mpirun="mpirun -n $gpus $( [ "$(id -u)" -eq 0 ] && echo --allow-run-as-root )"
command -v mpirun >/dev/null || { echo 'mpirun is not installed: one process a GPU is left out'; mpirun=; }

measure() {
    echo; echo "\$ $*"
    "$@" --device gpu --csv $csv || { echo "bench-multi: exit status $?" >&2; exit 1; }
}

# $1: a size; prints it as often as there are GPUs, with + between: --n takes sums
for_each_gpu() { yes "$1" | head -n "$gpus" | paste -sd + -; }

killed_rank() {
    echo; echo 'a rank is killed: the others have to end with status 3'
    for rank in $(seq 0 $((gpus - 1))); do
        OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$gpus OMPI_COMM_WORLD_LOCAL_RANK=$rank OMPI_COMM_WORLD_LOCAL_SIZE=$gpus \
            PMIX_NAMESPACE=bench$$ ./step12_multigpu/run --n 2^31 --repeat 100000 --device gpu --wait 30 &
        eval "pid$rank=$!"
    done
    sleep 20
    eval "kill -KILL \$pid$((gpus - 1))"
    for rank in $(seq 0 $((gpus - 2))); do
        eval "wait \$pid$rank"
        status=$?
        echo "rank $rank: exit status $status"
        [ $status -eq 3 ] || exit 1
    done
}

for kind in int float; do
    $MAKE -s ARCH="$ARCH" TYPE=$kind step11 step12 || exit 1
    for n in 2^20+7 2^28 2^31+5; do
        measure ./step11/run --n "$n"
        measure ./step12/run --devices 1 --n "$n"
        [ "$gpus" -eq 1 ] || measure ./step12/run --n "$n"
        # shellcheck disable=SC2086 # a command with its options
        [ -z "$mpirun" ] || measure $mpirun ./step12/run --n "$n"
    done
    for n in 2^20 2^25 2^28; do
        [ "$gpus" -eq 1 ] || measure ./step12/run --n "$(for_each_gpu "$n")"
    done
    for place in host overlap; do
        measure ./step12/run --n 2^28 --from $place
    done
    measure ./step12/run --collective --n 1,2^7,2^10,2^13,2^16,2^19,2^22,2^25,2^27
    for mib in 1 4 64; do
        measure ./step12/run --n 2^28 --from overlap --chunk $mib
    done
done
[ "$gpus" -eq 1 ] || killed_rank
echo; echo "all verified; the measurements are in $csv"
