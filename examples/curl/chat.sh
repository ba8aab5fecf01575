#!/bin/sh
# Asks a chat model, first for a whole answer, then for a stream of events.
#   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… sh chat.sh
set -eu
: "${PATCHBAY_URL:?set it to the address of the gateway}" "${PATCHBAY_API_KEY:?set it to the key of an app}"

ask() {
  curl --silent --show-error --fail-with-body --no-buffer "$PATCHBAY_URL/v1/chat" \
    -H "Authorization: Bearer $PATCHBAY_API_KEY" \
    -H "Content-Type: application/json" \
    -d "$1"
  echo
}

ask '{"messages": [{"role": "user", "content": "Name three uses of a patch bay"}], "max_tokens": 200}'
ask '{"messages": [{"role": "user", "content": "Name three uses of a patch bay"}], "max_tokens": 200, "stream": true}'
