#!/bin/sh
# Makes dialogue.mp3, the sample recording that ships with the product. Needs espeak-ng, sox and ffmpeg.
# The words are the project's own and both voices are synthetic, so that no third party holds rights in it.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
line() { # number, voice, pitch, words
  espeak-ng -v "$2" -p "$3" -s 155 -w "$work/raw$1.wav" "$4"
  sox "$work/raw$1.wav" -r 24000 -b 16 -c 1 "$work/line$1.wav" pad 0 0.25
}
line 1 en-gb 35 "Good morning, this is the harbour office. How can I help?"
line 2 en-us+f3 60 "Hello. Can I move my boat to pier seven?"
line 3 en-gb 35 "Pier seven is free from ten. For how long?"
line 4 en-us+f3 60 "Two nights, please. Thank you."
sox "$work"/line1.wav "$work"/line2.wav "$work"/line3.wav "$work"/line4.wav "$work/dialogue.wav" norm -3
ffmpeg -nostdin -hide_banner -loglevel error -y -bitexact -i "$work/dialogue.wav" -ac 1 -c:a libmp3lame -b:a 48k \
  -metadata title="Patchbay sample dialogue" dialogue.mp3
