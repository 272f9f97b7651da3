#!/bin/sh
# What the repository needs and what this machine has: a line each, and a remedy where something is missing. Installs nothing.
set -u
cd "$(dirname "$0")/.." || exit 1

line() { printf '%-12s %s\n' "$1" "$2"; }

first_line_of() { "$@" 2>/dev/null | head -n 1; }

tool() { # name, remedy
    if command -v "$1" >/dev/null; then line "$1" "$(first_line_of "$1" --version)"; else line "$1" "MISSING: $2"; fi
}

python_module() {
    for python in python3 .venv/bin/python; do
        version=$("$python" -c "import $1; print($1.__version__)" 2>/dev/null) && line "$1" "$version ($python)" && return
    done
    line "$1" "not yet: make $2 installs it into .venv"
}

tool make 'sudo apt install make'
tool "${CC:-gcc}" 'sudo apt install gcc'
tool g++ 'sudo apt install g++ (nvcc needs it)'

found=$(sh common/setup.sh find-nvcc 2>&1)
case $found in
    /*) line nvcc "CUDA ${found##* }, ${found%% *}" ;;
    *) line nvcc "not yet: make run installs CUDA 13.0's from PyPI into .venv; a toolkit of your own: make CUDA_HOME=FOLDER" ;;
esac

if [ -r /sys/module/nvidia/version ]; then
    line driver "NVIDIA $(cat /sys/module/nvidia/version)"
elif [ -e /usr/lib/wsl/lib/libcuda.so.1 ]; then
    line driver 'that of Windows, through WSL'
else
    line driver 'no NVIDIA driver: the steps run on the emulator (a GPU needs driver 580 or newer)'
fi
smi=$(command -v nvidia-smi || ls /usr/lib/wsl/lib/nvidia-smi 2>/dev/null)
gpu=$([ -n "$smi" ] && "$smi" --query-gpu=name,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
line GPU "${gpu:-none: the steps run on the emulator, and show counters where a GPU shows times}"

if command -v python3 >/dev/null; then
    line python3 "$(first_line_of python3 --version)"
    python3 -c 'import ensurepip' 2>/dev/null || line venv 'MISSING: sudo apt install python3-venv (.venv is made with it)'
else
    line python3 'MISSING: sudo apt install python3 python3-venv'
fi
python_module pytest test
python_module matplotlib plot
