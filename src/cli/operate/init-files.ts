// The files that `patchbay init` writes: a configuration that starts on the sandbox as it is, with provider settings in comments. A test starts from both
// files, unchanged and with each such line enabled.

export const CONFIGURATION_NAME = "patchbay.yaml";
export const VARIABLES_NAME = ".env.example";

export const CONFIGURATION = `# Patchbay. Check this file with \`patchbay config validate\`; bring changes into force with \`patchbay apply\` or a restart.
# Every setting: \`patchbay config schema\`. Values may name a variable, as below, or a file: \${file:PATH}.
# Secrets stay out of it: ${VARIABLES_NAME} names the variables that it reads.

server:
  host: 127.0.0.1 # 0.0.0.0 to listen on all addresses
  port: 8080
  # How callers reach the gateway: error messages and result links are made of it. Not set: made of host and port.
  # public_url: "\${env:PATCHBAY_PUBLIC_URL}"
  # Metrics and administration, for the operator's key alone.
  admin: { host: 127.0.0.1, port: 8081 }

storage:
  # A PostgreSQL server; empty: the embedded database below data_dir, for one process.
  database_url: "\${env:DATABASE_URL:-}"
  data_dir: ./data

secrets:
  # Made in data_dir where they are empty; with a PostgreSQL server they must be given.
  key_pepper: "\${env:PATCHBAY_KEY_PEPPER:-}"
  encryption_keys: ["\${env:PATCHBAY_ENCRYPTION_KEY:-}"]

operator_keys:
  - { id: root, secret: "\${env:PATCHBAY_OPERATOR_KEY}" }

# Provider accounts. The sandbox recognises nothing and costs nothing: it measures the audio and says that it is simulated.
connections:
  - { id: sandbox, kind: sandbox }
  # - { id: deepgram, kind: deepgram, api_key: "\${env:DEEPGRAM_API_KEY}" }
  # - { id: openai, kind: openai, api_key: "\${env:OPENAI_API_KEY}" }
  # - { id: local, kind: openai-compatible, base_url: "\${env:LOCAL_STT_URL}", models: { whisper: { capabilities: [audio_input] } } }

# A route is an ordered list of targets: the first that can do everything a request requires, and is healthy, serves it.
# Remove the sandbox from a route once it has a provider: its text is simulated.
routes:
  - id: speech
    targets:
      # - { connection: deepgram, model: nova-3 }
      # - { connection: openai, model: whisper-1 }
      # - { connection: local, model: whisper }
      - { connection: sandbox, model: simulated-speech }
  - id: chat
    targets:
      # - { connection: openai, model: gpt-6-luna }
      - { connection: sandbox, model: simulated-chat }

workspaces:
  - id: main
    # Hosts that \`audio.url\` may name.
    audio_url_domains: []
    apps:
      - id: first
        route: chat
        # Audio goes elsewhere than chat.
        audio_input_override: speech
        quota: { requests_per_minute: 600, concurrent: 20 }
        # budgets: [{ period: month, limit_usd: "50.00", soft_limit: 0.8 }]
        keys:
          - { id: first-key, secret: "\${env:PATCHBAY_APP_KEY}", scopes: [transcribe, chat, jobs] }
`;

export const VARIABLES = `# The variables that patchbay.yaml reads. Copy this file to .env, fill it in, and keep it out of version control. Then:
#   set -a; . ./.env; set +a
#   patchbay up

# Two keys of your own choosing, 24 to 128 visible ASCII characters each, such as \`openssl rand -hex 24\` prints.
PATCHBAY_OPERATOR_KEY=
PATCHBAY_APP_KEY=

# How callers reach the gateway, behind a proxy or on another machine.
# PATCHBAY_PUBLIC_URL=https://speech.example.com

# A PostgreSQL server instead of the embedded database. The two secrets belong to it: \`openssl rand -base64 32\` for each.
# DATABASE_URL=postgres://patchbay:PASSWORD@127.0.0.1/patchbay
# PATCHBAY_KEY_PEPPER=
# PATCHBAY_ENCRYPTION_KEY=

# For the lines of patchbay.yaml that are switched off.
# DEEPGRAM_API_KEY=
# OPENAI_API_KEY=
# LOCAL_STT_URL=http://127.0.0.1:8000/v1
`;
