// The configuration that `patchbay init --for try` writes: it starts as it is, and recognises the bundled sample.

export const TRY_CONFIGURATION = `# Patchbay, to try it alone on this machine.
#
# A line that begins with # and a blank is a comment. A line that begins with # alone is an option that is switched off.
# Check this file: \`patchbay config validate\`. Every option: docs/configuration.md, or \`patchbay config schema\`.
# Values may name a variable, as \${env:NAME} or \${env:NAME:-default}, or a file, as \${file:PATH}.

server:
  # Only this machine can reach the gateway. 0.0.0.0: all addresses.
  host: 127.0.0.1
  port: 8080
  # Metrics, administration and the operator's console.
  admin: { host: 127.0.0.1, port: 8081 }

storage:
  # Relative to this file. The first start creates a database here, and two keys: cli-key for apps, operator-key for you.
  # The commands in this directory find them.
  data_dir: ./data

# Speech is recognised on this machine. Until \`patchbay models pull\` has downloaded a model, that is the bundled sample alone,
# and other recordings are answered with simulated text.
models:
  # never: no downloads, only \`patchbay models import\`.
  fetch: on_request
  #dir: ./models

#local: { threads: 4, idle_seconds: 600 }

# Provider accounts. Those that are here at the first start are used for every request, in this order. Add them later together with
# routes.
#connections:
#  - { id: deepgram, kind: deepgram, api_key: "\${env:DEEPGRAM_API_KEY}" }
#  - { id: openai, kind: openai, api_key: "\${env:OPENAI_API_KEY}" }

# A route is a list of targets. The first that can do everything a request requires, and is available, serves it.
#routes:
#  - id: speech
#    targets:
#      - { connection: deepgram, model: nova-3 }
#      - { connection: openai, model: gpt-transcribe }
#  - id: chat
#    targets:
#      - { connection: openai, model: gpt-6-luna }

# Longer recordings, larger files.
#limits: { max_audio_duration_seconds: 14400, max_audio_bytes: 26214400 }

# How long the request log and usage are kept.
#retention: { request_days: 30, usage_days: 400 }
`;
