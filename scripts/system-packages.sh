#!/bin/sh
# The tests drive a real browser and a real PostgreSQL. Install what is missing where we may; where we may
# not, the tests that need it skip and say so.
set -u
missing=""
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || missing="$missing chromium"
command -v pg_ctl >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || missing="$missing postgresql"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing$missing"
  apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null \
    || echo "Could not install$missing; the tests that need it will skip."
else
  echo "Not installed and not installable here:$missing; the tests that need it will skip."
fi
exit 0
