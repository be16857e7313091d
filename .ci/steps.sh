# For .ci/run and .ci/nightly: steps that end the run at the first failure, and its closing line.
set -uo pipefail

reports=$(mktemp -d)
output=$(mktemp)
beside=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$reports" "$output" "$beside"' EXIT

step() {
  printf '\n== %s\n' "$*"
  local started=$SECONDS
  "$@" 2>&1 | tee "$output"
  local ended=${PIPESTATUS[0]}
  printf '== %s took %d s\n' "$*" $((SECONDS - started))
  [ "$ended" = 0 ] && return
  printf '\nFAILED: %s\nThe end of its output:\n' "$*"
  tail -n 60 "$output"
  # A failed step without a failed test counts as one failure.
  node .ci/closing-line.mjs "$reports" 1
  exit 1
}

# Starts a command beside the next steps. The step `ended` waits for it, prints its output, and fails if it failed.
beside() {
  printf '\n== %s, beside the next steps\n' "$*"
  { "$@" >"$beside/output" 2>&1; echo $? >"$beside/status"; } &
}

ended() {
  until [ -s "$beside/status" ]; do sleep 0.2; done
  cat "$beside/output"
  return "$(cat "$beside/status")"
}

# The servers and programs that the tests start themselves. The arguments are Debian packages.
servers() {
  local missing=() sudo=
  for package in "$@"; do
    dpkg-query --show --showformat '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ "${#missing[@]}" = 0 ] && return
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

finish() {
  node .ci/closing-line.mjs "$reports" 0
  exit
}
