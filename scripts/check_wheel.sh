#!/usr/bin/env bash
# Build a wheel, install it into a throwaway environment, and use it from an empty folder, without a checkout in reach.
# The environment has the packages of the Python that is given (default: .venv's), so nothing is downloaded.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "${1:-.venv/bin/python}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# from a copy: setuptools leaves build/ behind, and takes from it what has been deleted since
mkdir "$work/source"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract --directory "$work/source"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work" "$work/source"

"$python" -m venv --without-pip "$work/venv"
site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" -m pip --python "$work/venv/bin/python" install --quiet --disable-pip-version-check --no-deps "$work"/*.whl
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$site/zz_packages.pth"  # behind the wheel, without .pth files there

mkdir "$work/empty"
cd "$work/empty"
unset SPARSEID_DATA SPARSEID_EXTENSIONS PYTHONPATH
sparseid=("$work/venv/bin/python" -m sparseid)
"$work/venv/bin/python" -c "import sparseid.project as p; assert p.CHECKOUT is None and str(p.PACKAGE).startswith('$site'), p.PACKAGE; assert any(p.SAMPLES.iterdir())"
"${sparseid[@]}" --help | grep --quiet 'experiment='
"$work/venv/bin/sparseid" --help | grep --quiet 'experiment='
"${sparseid[@]}" --cfg job experiment=tbr/fig4 scale=smoke | grep --quiet '^experiment: tbr/fig4$'
test -z "$(ls -A)" || { echo "files are left in the current folder: $(ls -A)"; exit 1; }
echo "the wheel works without a checkout: $(basename "$work"/*.whl)"
