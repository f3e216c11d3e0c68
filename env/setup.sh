#!/usr/bin/env bash
# Bring what Sizebook needs: Debian packages (as root on Debian), a virtual environment with the
# locked packages, the build of the reference stack. Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}

say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# With FROM=published nothing is measured and nothing tested: Python packages are all that it takes.
packages=env/apt.txt locks=(env/requirements.lock env/dev.lock)
[ "${FROM:-}" = published ] && packages=/dev/null locks=(env/requirements.lock)

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
done < "$packages"
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

install() {  # modules are compiled when first used, and the lock names all there is to install
  "$bin/python" -m pip install -q --disable-pip-version-check --no-deps --no-compile "$@"
}

# What locks name depends on nothing else, so four quarters of it are installed at a time: one
# unpacks while another waits for the network. What venv brought goes before it is replaced, or two
# would replace it.
install_locked() {  # lock files
  local parts part jobs=() failed=0
  if grep -q '^setuptools==' "$@"; then
    "$bin/python" -m pip uninstall -q -y setuptools 2>/dev/null || true
  fi
  parts=$(mktemp -d)
  awk -v to="$parts/" '/^[^ #]/ { n++ } n { print > (to n % 4) }' "$@"
  for part in "$parts"/*; do
    install --require-hashes -r "$part" &
    jobs+=("$!")
  done
  for part in "${jobs[@]}"; do wait "$part" || failed=1; done
  rm -rf "$parts"
  [ "$failed" = 0 ] || stop "the locked Python packages could not be installed; see above"
}

# 2. Python packages, by hash. An active conda environment named sizebook is used as it is.
if [ "${CONDA_DEFAULT_ENV:-}" = sizebook ]; then
  bin=$CONDA_PREFIX/bin
  "$bin/python" -c 'import sizebook' 2>/dev/null ||
    "$bin/python" -m pip install -q --no-deps --no-build-isolation -e .
else
  bin=$venv/bin
  python=${PYTHON:-python3}
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
    "$python" -m venv "$venv"
    install --require-hashes -r env/pip.lock
    install_locked "${due[@]}"
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
