#!/bin/sh
# Transcribes a long recording as a durable job: submits it, waits for its end and prints captions.
#   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… sh job.sh call.mp3
# With IDEMPOTENCY_KEY set, a second run finds the job of the first one instead of paying for another.
set -eu
: "${PATCHBAY_URL:?set it to the address of the gateway}" "${PATCHBAY_API_KEY:?set it to the key of an app}"
file=${1:?which recording?}
key=${IDEMPOTENCY_KEY:-job-$$-$(date +%s)}

call() {
  curl --silent --show-error --fail-with-body -H "Authorization: Bearer $PATCHBAY_API_KEY" "$@"
}

# A text member of a JSON answer, the first of this name. In a script of your own, use jq.
member() {
  printf %s "$2" | grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4
}

submitted=$(call "$PATCHBAY_URL/v1/transcription/jobs" -H "Idempotency-Key: $key" -F "file=@$file")
poll_url=$(member poll_url "$submitted")
echo "submitted: $poll_url" >&2

# `wait` holds each answer for up to 60 seconds, so that the loop does not poll.
while :; do
  job=$(call "$PATCHBAY_URL$poll_url?wait=60")
  status=$(member status "$job")
  echo "status: $status" >&2
  case $status in
  succeeded) break ;;
  failed | cancelled) exit 1 ;;
  esac
done
call "$PATCHBAY_URL$poll_url?format=srt"
