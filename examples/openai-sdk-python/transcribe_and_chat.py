# An existing program with OpenAI's client: only the base URL, the key and the model's name change.
#   pip install openai
#   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… python3 transcribe_and_chat.py call.mp3
import os
import sys

from openai import OpenAI

client = OpenAI(base_url=os.environ["PATCHBAY_URL"] + "/v1", api_key=os.environ["PATCHBAY_API_KEY"])

# `auto` is the route of the key. `purpose/<label>` selects one of its purposes.
with open(sys.argv[1], "rb") as recording:
    transcript = client.audio.transcriptions.create(model="auto", file=recording)
print(transcript.text)

stream = client.chat.completions.create(
    model="auto",
    messages=[{"role": "user", "content": f"Sum this up: {transcript.text}"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
