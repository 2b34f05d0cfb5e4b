# shellcheck shell=bash disable=SC2034
# The one list of Debian packages, and how they are installed. `run` and `test` source this file.

build_packages=(
    g++ cmake ninja-build pkg-config
    libglfw3-dev libimgui-dev libepoxy-dev libfontconfig-dev libcairo2-dev libpango1.0-dev
    libeigen3-dev libcli11-dev nlohmann-json3-dev libfmt-dev libexpected-dev libzip-dev libpng-dev
    libhwy-dev libtbb-dev libutf8proc-dev libpcre2-dev zlib1g-dev
    libgl1 libegl1 libgl1-mesa-dri
    fonts-dejavu-core fonts-stix fonts-inter fonts-jetbrains-mono
)
release_packages=(patchelf binutils dpkg-dev file gzip xz-utils python3 fontconfig) # tools/release.sh
test_packages=(doctest-dev valgrind clang-format glslang-tools xvfb xauth xdotool poppler-utils python3-numpy python3-markdown
    libopenmpi-dev openmpi-bin fonts-noto-cjk fonts-noto-core nodejs patchelf)
# What tests use where it is there, and else are skipped with the reason: python3-venv python3-pip (python_install), python3-torch
# (python_hooks), jupyter-nbconvert python3-ipykernel (python_notebook), chromium (the page of the notebook).

# The headers of `g++ -m32` (bits32), where apt has them; the name of one has the compiler's version.
headers_of_32_bits() {
    local name
    for name in libc6-dev-i386 "lib32stdc++-$(g++ -dumpversion 2>/dev/null | cut -d. -f1)-dev"; do
        if apt-cache show "$name" >/dev/null 2>&1; then echo "$name"; fi
    done
}

# Prints those of the named packages that are not installed, each after a space.
missing_packages() {
    local installed name
    # shellcheck disable=SC2016  # the format is dpkg-query's
    installed=$'\n'$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null || true)$'\n'
    for name; do
        [[ $installed == *$'\nii '"$name"$'\n'* ]] || printf ' %s' "$name"
    done
}

# Runs a command as root: sudo asks for a password only where somebody can type one.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif [[ -t 0 ]]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# Installs what is missing of the named packages, and says so first. Returns 0 when it installed something. Where it
# cannot, it says what is wanted, and CMake goes on with what there is.
install_packages() {
    local missing
    if ! command -v apt-get dpkg-query >/dev/null; then
        echo "No apt here. attnscope wants, under whatever names your system gives them: $*" >&2
        return 1
    fi
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 1
    echo "Installing with apt-get:$missing" >&2
    # shellcheck disable=SC2086  # one word a package
    if ! { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing; } >&2; then
        echo "That did not work. Going on with what there is; still wanted:$missing" >&2
        return 1
    fi
}
