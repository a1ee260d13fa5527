# Shared by the scripts of this folder; sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Scripts change their folder after this.
if [ -n "${HOLDFAST_BINARY:-}" ]; then HOLDFAST_BINARY=$(realpath "$HOLDFAST_BINARY"); fi

# The folders and manifests whose Swift code is formatted.
swift_code=(
    Package.swift Sources Tests Examples scripts/XCTMain.swift Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/BrownOut Benchmarks/ClientCost
    Benchmarks/Comparison Benchmarks/Middleware Fuzzing/Package.swift Fuzzing/Sources/Fuzz
)

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# as_root COMMAND…: runs a command as root, with sudo if the user is not root.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "root is needed for: $* (and there is no sudo)"
    fi
}

# need_packages NAME…: installs the Debian packages that are missing.
need_packages() {
    local missing=() name
    for name in "$@"; do
        dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return
    say "Installing ${missing[*]} with apt (the system libraries that Holdfast is built on)"
    as_root apt-get update -qq || return
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# need_formulae NAME…: installs the Homebrew formulae that are missing.
need_formulae() {
    local name
    for name in "$@"; do
        brew list --formula "$name" >/dev/null 2>&1 && continue
        say "Installing $name with Homebrew"
        brew install --quiet "$name"
    done
}

# fresh_manifest: makes SwiftPM search the parent package for new files, which it does not do by itself.
fresh_manifest() { touch Package.swift; }

# need_python_tools NAME [REQUIREMENTS]: installs the Python packages of a requirements file (scripts/NAME.txt by default) into an
# environment of the cache, and sets python_tools to its folder. Does nothing if that version of the file was installed before.
need_python_tools() {
    local requirements=${2:-$root/scripts/$1.txt}
    python_tools=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/$1
    # The file is copied last: its copy shows that the installation is complete.
    cmp -s "$requirements" "$python_tools/requirements.txt" && return
    command -v apt-get >/dev/null && need_packages python3 python3-venv
    say "Installing $(head -n 1 "$requirements") and others with pip into $python_tools"
    rm -rf "$python_tools"
    mkdir -p "$(dirname "$python_tools")"
    python3 -m venv "$python_tools"
    "$python_tools/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2
    cp "$requirements" "$python_tools/requirements.txt"
}

# need_test_tools: installs the tools of the tests: curl and jq for the account API with curl, OpenSSL for certificates, Python for a second email
# parser, databases, a browser, the API checkers, an SMTP server, and the servers of other projects.
need_test_tools() {
    if command -v apt-get >/dev/null; then
        need_packages curl jq openssl procps python3 postgresql redis-server haproxy pgbouncer prometheus faketime
        # Debian's names first, then Ubuntu's.
        if ! command -v chromedriver >/dev/null; then
            need_packages chromium chromium-driver || need_packages chromium-browser chromium-chromedriver
        fi
    elif command -v brew >/dev/null; then
        need_formulae jq postgresql redis
        command -v chromedriver >/dev/null || brew install --quiet --cask chromedriver
    fi
    "$root/scripts/python-tools" api-tools >/dev/null
    "$root/scripts/python-tools" mail-tools >/dev/null
    "$root/scripts/python-tools" token-tools >/dev/null
    "$root/scripts/foreign-servers" >/dev/null
}

# need_build_tools: installs the libraries that a build needs.
need_build_tools() {
    # A build of CI that was killed leaves this file. With it, `swift test` would run no test of this package.
    rm -f "$root/Tests/XCTMain.swift"
    command -v swift >/dev/null || fail "Swift is not installed; get version 6.2 or later from https://www.swift.org/install"
    if command -v apt-get >/dev/null; then
        need_packages libcurl4-openssl-dev libargon2-dev libsqlite3-dev libpq-dev libhiredis-dev pkg-config
    elif command -v brew >/dev/null; then
        need_formulae argon2 curl hiredis libpq pkg-config
    else
        say "Found neither apt nor Homebrew: libargon2, libcurl, libhiredis, libpq, SQLite 3 and pkg-config must be installed by hand"
    fi
}

# measured_binary: prints the path of the binary to measure: HOLDFAST_BINARY, or a release build as in docs/operations/install.md.
measured_binary() {
    if [ -z "${HOLDFAST_BINARY:-}" ]; then
        local build=(swift build --package-path "$root" --traits Server --configuration release --static-swift-stdlib)
        # A failure in a command substitution ends only the substitution.
        "${build[@]}" --product holdfast >&2 || return
        HOLDFAST_BINARY=$("${build[@]}" --show-bin-path)/holdfast || return
    fi
    printf '%s\n' "$HOLDFAST_BINARY"
}
