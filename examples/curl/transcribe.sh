#!/bin/sh
# Transcribes a recording with speaker labels. Prints the transcript as JSON, or as captions if a caption format is named.
#   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… sh transcribe.sh call.mp3 [srt|vtt]
set -eu
: "${PATCHBAY_URL:?set it to the address of the gateway}" "${PATCHBAY_API_KEY:?set it to the key of an app}"
file=${1:?which recording?}
format=${2:-json}
case $format in
srt) accept=application/x-subrip ;;
vtt) accept=text/vtt ;;
*) accept=application/json ;;
esac

curl --silent --show-error --fail-with-body "$PATCHBAY_URL/v1/transcription" \
  -H "Authorization: Bearer $PATCHBAY_API_KEY" \
  -H "Accept: $accept" \
  -F "file=@$file" -F diarization=true -F "response_format=$format"
