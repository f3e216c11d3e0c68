#!/usr/bin/env bash
# Bring what Sizebook needs: Debian packages (as root on Debian), a virtual environment with the
# locked packages, the build of the reference stack. Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}

say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# With FROM=published nothing is measured and nothing tested: Python packages are all that it takes.
# An audit, and the book from what was measured, take no more: make sets it for them.
packages=env/apt.txt locks=(env/requirements.lock env/dev.lock)
[ "${FROM:-}" = published ] && packages=/dev/null locks=(env/requirements.lock)

# The peers that the benchmarks measure beside: wrk, and Go, with which they fetch k6 and hey.
[ -n "${PEERS:-}" ] && packages="$packages env/apt-bench.txt"

# 1. Programs from the system.
missing=()
while read -r package command _; do
  case $package in ''|'#'*) continue ;; esac
  if [ "$package" = fonts-dejavu-core ]; then
    [ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] ||
      fc-list 2>/dev/null | grep -qi dejavu || missing+=("$package")
  elif ! command -v "$command" >/dev/null 2>&1; then
    missing+=("$package")
  fi
done < <(cat $packages)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing ${missing[*]}"
    log=$(mktemp)
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        "${missing[@]}"; } >"$log" 2>&1 || { tail -5 "$log" >&2; stop "apt-get failed (log: $log)"; }
    rm -f "$log"
  else
    say "missing programs; install them and run this again:"
    say "  Debian or Ubuntu:  sudo apt-get install ${missing[*]}"
    say "  conda or mamba:    conda env create -f environment.yml && conda activate sizebook"
    case " ${missing[*]} " in
      *' openjdk'*|*' maven '*|*' python3'*) exit 1 ;;
      *) say "going on without: only some tests, exports and virtualization modes need them" ;;
    esac
  fi
fi

# uv installs in seconds what takes pip half a minute. It reads no settings of pip's, so it is told
# where pip looks; where it cannot install (no wheel for this system, another kind of index), pip does.
make_venv() {
  "$python" -m venv --without-pip "$venv"
  "$python" -m pip --python "$bin/python" install "${quiet[@]}" "${installer[@]}" 2>/dev/null || {
    "$bin/python" -m ensurepip >/dev/null 2>&1 ||
      stop "found no pip for $("$python" --version); expected venv with ensurepip (python3-venv)"
    "$bin/python" -m pip install "${quiet[@]}" "${installer[@]}" 2>/dev/null || true
  }
}

install() {  # modules are compiled when first used, and a lock names all there is to install
  local index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-}}
  [ -n "$index" ] || index=$("$bin/python" -m pip config get global.index-url 2>/dev/null || true)
  UV_DEFAULT_INDEX=$index "$bin/uv" pip install -q --python "$bin/python" --no-deps "$@" \
    2>"$venv/.uv" || "$bin/python" -m pip install "${quiet[@]}" --no-deps --no-compile "$@" || {
    cat "$venv/.uv" >&2
    stop "the Python packages could not be installed; see above"
  }
}

# 2. Python packages, by hash. An active conda environment named sizebook is used as it is.
if [ "${CONDA_DEFAULT_ENV:-}" = sizebook ]; then
  bin=$CONDA_PREFIX/bin
  "$bin/python" -c 'import sizebook' 2>/dev/null ||
    "$bin/python" -m pip install -q --no-deps --no-build-isolation -e .
else
  bin=$venv/bin
  python=${PYTHON:-python3}
  quiet=(-q --disable-pip-version-check) installer=(--no-deps --require-hashes -r env/installer.lock)
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop "found $("$python" --version); expected Python 3.11 or later; set PYTHON to one"
  due=()
  for lock in "${locks[@]}"; do
    if ! cmp -s "$lock" "$venv/.sizebook-${lock##*/}" || [ ! -x "$bin/sizebook" ]; then
      due+=("$lock")
    fi
  done
  if [ ${#due[@]} -gt 0 ]; then
    say "installing the locked Python packages into $venv"
    [ -x "$bin/uv" ] || make_venv
    install --require-hashes "${due[@]/#/--requirement=}"
    install --no-build-isolation -e .
    for lock in "${due[@]}"; do cp "$lock" "$venv/.sizebook-${lock##*/}"; done
  fi
fi

[ "${FROM:-}" = published ] && exit 0

# 3. The reference stack.
"$bin/sizebook" stack build

# 4. For virtualization modes: a kernel for virtual machines, gVisor where Go is installed. That
# takes a minute and a half once; GVISOR=no leaves it out, and so does a chapter without modes.
"$bin/sizebook" hosts prepare ${CHAPTER:+--chapter "$CHAPTER"} \
  $([ "${GVISOR:-yes}" = no ] && echo --no-gvisor)

# 5. Servers that their packages would start, and that would stay: unpacked, not installed.
unpack() {  # folder below .sizebook, program in it, what it is for, packages
  local folder=.sizebook/$1 program=$2 purpose=$3 partial
  shift 3
  if [ -x "$folder/usr/sbin/$program" ] || command -v "$program" >/dev/null 2>&1 ||
    ! command -v apt-get >/dev/null 2>&1; then
    return
  fi
  partial=$(mktemp -d)
  if (cd "$partial" && apt-get -q download "$@" >log 2>&1 &&
    for package in *.deb; do dpkg-deb -x "$package" unpacked; done); then
    mkdir -p "$(dirname "$folder")"
    rm -rf "$folder" && mv "$partial/unpacked" "$folder"
    say "$program unpacked for $purpose"
  else
    say "no $program for $purpose: $(tail -1 "$partial/log")"
  fi
  rm -rf "$partial"
}
unpack hosts/sshd sshd "tests of hosts over ssh" openssh-server libwrap0
unpack programs/nginx nginx "the chapter on a system of one's own" nginx
