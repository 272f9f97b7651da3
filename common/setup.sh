#!/bin/sh
# Finds the tools that the Makefile needs and, when asked to, installs what is missing into .venv.
#   setup.sh find-nvcc         prints "NVCC INCLUDE_DIR RUNTIME_DIR VERSION" of an nvcc of CUDA 13, else of 12, or nothing
#   setup.sh nvcc              the same, after installing the compiler's wheels when there is none
#   setup.sh nccl              installs NCCL's wheel, unless the system has NCCL
#   setup.sh python MODULE     prints a Python that imports MODULE, after installing it when none does
# Reads NVCC, CUDA_HOME and CUDA (CUDA=wheel: the compiler from PyPI, whatever else there is). Sentences go to stderr.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=$PWD/.venv
wanted="13 12"       # majors, the better first
newest=13
wheels='nvidia-cuda-nvcc==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-cccl==13.0.*'

say() { echo "$*" >&2; }

# "13.0" for an nvcc that runs, nothing otherwise.
nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

# One line about the nvcc at $1, when it can be used. Its major is one of those in $2.
describe_nvcc() {
    version=$(nvcc_version "$1")
    major=${version%.*}
    case " $2 " in
        *" $major "*) [ -n "$version" ] || return 1 ;;
        *) return 1 ;;
    esac
    include=$("$1" --dryrun empty.cu 2>&1 | sed -n 's/.*INCLUDES="-I\([^"]*\)".*/\1/p' | head -n 1)
    include=$(cd -P "$include" 2>/dev/null && pwd -P) || return 1
    runtime=
    for directory in "$include/../lib64" "$include/../lib"; do
        if [ -e "$directory/libcudart.so.$major" ]; then
            runtime=$(cd -P "$directory" && pwd -P)
            break
        fi
    done
    echo "$1 $include ${runtime:-none} $version"
}

wheel_nvcc() {
    for nvcc in "$venv"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
        [ -x "$nvcc" ] && describe_nvcc "$nvcc" "$newest" && return
    done
    return 1
}

# The order: the command line, PATH, the usual place, the wheels of an earlier set-up.
find_nvcc() {
    if [ "${CUDA:-}" = wheel ]; then
        wheel_nvcc
        return
    fi
    if [ -n "${NVCC:-}${CUDA_HOME:-}" ]; then
        describe_nvcc "${NVCC:-$CUDA_HOME/bin/nvcc}" "$wanted" && return
        if [ -n "${NVCC:-}" ]; then
            say "NVCC=$NVCC is not an nvcc of CUDA 13 or 12."
            return 2
        fi
    fi
    for major_wanted in $wanted; do
        for nvcc in "$(command -v nvcc)" /usr/local/cuda/bin/nvcc; do
            [ -n "$nvcc" ] && describe_nvcc "$nvcc" "$major_wanted" && return
        done
        [ "$major_wanted" -eq "$newest" ] && wheel_nvcc && return
    done
    return 1
}

make_venv() {
    [ -x "$venv/bin/pip" ] && return
    if ! command -v python3 >/dev/null; then
        say 'There is no python3, which installs the rest; on Debian and Ubuntu: sudo apt install python3 python3-venv'
        return 1
    fi
    log=$(python3 -m venv "$venv" 2>&1) && return
    say "$log"
    say 'python3 -m venv failed; on Debian and Ubuntu: sudo apt install python3-venv, then run make again'
    return 1
}

# $1: the packages; $2: what to do by hand when it fails
install() {
    make_venv || return 1
    # shellcheck disable=SC2086 # a list of packages
    "$venv/bin/pip" install --quiet --disable-pip-version-check $1 >&2 && return
    say "pip could not install $1. $2"
    return 1
}

install_nvcc() {
    if [ "${CUDA:-}" = wheel ]; then
        reason='because of CUDA=wheel'
    elif found=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null); then
        reason="because $found is of CUDA $(nvcc_version "$found"), not 13 or 12"
    else
        reason='because there is no nvcc here'
    fi
    say "Installing the CUDA $newest.0 compiler from PyPI into .venv, $reason (300 MB, once)."
    install "$wheels" 'By hand: install the CUDA Toolkit 13.0 (https://developer.nvidia.com/cuda-downloads) and say make CUDA_HOME=ITS_FOLDER.'
}

# Not called nvcc: `command -v nvcc` would find the function.
need_nvcc() {
    found=$(find_nvcc)
    status=$?
    if [ -z "$found" ] && [ $status -ne 2 ]; then
        install_nvcc && found=$(wheel_nvcc)
    fi
    [ -n "$found" ] && echo "$found"
}

need_nccl() {
    if /sbin/ldconfig -p 2>/dev/null | grep -q 'libnccl\.so\.2' || [ -e "$(find_nvcc | cut -d ' ' -f 3)/libnccl.so.2" ]; then
        say 'NCCL is there already.'
        return
    fi
    say "Installing NCCL from PyPI into .venv, because the system has none (once)."
    install "nvidia-nccl-cu$newest" 'By hand: install libnccl2 (https://developer.nvidia.com/nccl).'
}

need_python() {
    for candidate in python3 "$venv/bin/python"; do
        "$candidate" -c "import $1" 2>/dev/null && echo "$candidate" && return
    done
    say "Installing $1 from PyPI into .venv, because python3 does not import it (once)."
    install "$1" "By hand: install $1 for python3 (on Debian and Ubuntu: sudo apt install python3-$1)." && echo "$venv/bin/python"
}

case ${1:-} in
    find-nvcc) find_nvcc ;;
    nvcc) need_nvcc ;;
    nccl) need_nccl ;;
    python) need_python "$2" ;;
    *) say 'usage: setup.sh find-nvcc | nvcc | nccl | python MODULE'; exit 2 ;;
esac
