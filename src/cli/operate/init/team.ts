// The configuration that `patchbay init --for team` writes: one workspace on one machine, a provider, keys, a quota and a budget.

export const TEAM_CONFIGURATION = `# Patchbay for one team: a provider account behind keys, quotas and budgets of your own, on one machine.
#
# A line that begins with # and a blank is a comment. A line that begins with # alone is an option that is switched off.
# Check this file: \`patchbay config validate\`. Bring changes into force: \`patchbay apply\`, which prints them first with --dry-run.
# Every option: docs/configuration.md, or \`patchbay config schema\`. Secrets stay out of it: .env.example names its variables.

server:
  # Callers on other machines need 0.0.0.0, and a proxy with TLS in front.
  host: 127.0.0.1
  port: 8080
  # How callers reach the gateway: error messages and result links contain it. Not set: host and port.
  #public_url: "\${env:PATCHBAY_PUBLIC_URL}"
  # Metrics, administration and the operator's console, for the operator's key.
  admin: { host: 127.0.0.1, port: 8081 }

storage:
  # Relative to this file: the embedded database, recordings of jobs, and the secrets that encrypt them. Back it up: \`patchbay backup\`.
  data_dir: ./data

operator_keys:
  - { id: operator, secret: "\${env:PATCHBAY_OPERATOR_KEY}" }

# Provider accounts. Their keys stay in the gateway.
connections:
  - { id: deepgram, kind: deepgram, api_key: "\${env:DEEPGRAM_API_KEY}" }
  #- { id: openai, kind: openai, api_key: "\${env:OPENAI_API_KEY}" }
  #- { id: here, kind: local }

# A route is a list of targets. The first that can do everything a request requires, and is available, serves it.
routes:
  - id: speech
    targets:
      - { connection: deepgram, model: nova-3 }
      #- { connection: openai, model: gpt-transcribe }
      #- { connection: here, model: parakeet-110m-en }
    # Labels that apps send as \`purpose\`, with defaults of their own.
    #purposes:
    #  - { purpose: calls, description: "Two people on a telephone", route: speech, defaults: { diarization: true } }

# What apps are charged. A model without a price costs nothing in budgets of dollars. Enter the prices of your own contract.
#prices:
#  - { provider: deepgram, model: nova-3, usd_per_audio_hour: "0.29", source: "our contract", as_of: 2026-11-01 }

workspaces:
  - id: team
    # Hosts that \`audio.url\` may name.
    audio_url_domains: []
    apps:
      - id: first
        route: speech
        quota: { requests_per_minute: 600, concurrent: 20 }
        # At the limit, requests are refused with BUDGET_EXCEEDED until the next month (UTC).
        budgets:
          - { period: month, limit_audio_seconds: 360000, soft_limit: 0.8 }
          #- { period: day, limit_usd: "20.00" }
        keys:
          - { id: first-key, secret: "\${env:PATCHBAY_APP_KEY}", scopes: [transcribe, jobs] }
    # For the console, usage and the request log of this workspace.
    admin_keys:
      - { id: team-admin, secret: "\${env:PATCHBAY_ADMIN_KEY}" }

# Reports retired models, open circuits, spent budgets, failing jobs and low disks. Test it: \`patchbay alerts test\`.
#alerts: [{ url: "\${env:ALERTS_URL}" }]
`;

export const TEAM_VARIABLES = `# The variables that patchbay.yaml reads. Copy this file to .env, fill it in, and keep .env out of version control. Then:
#   set -a; . ./.env; set +a
#   patchbay up

# The provider account.
DEEPGRAM_API_KEY=

# Keys of your own choosing, 24 to 128 visible ASCII characters each, such as \`openssl rand -hex 24\` prints:
# of you, of the first app, and of the team's administrator.
PATCHBAY_OPERATOR_KEY=
PATCHBAY_APP_KEY=
PATCHBAY_ADMIN_KEY=

# For the options that are switched off.
# OPENAI_API_KEY=
# PATCHBAY_PUBLIC_URL=https://speech.example.com
# ALERTS_URL=https://hooks.example.com/patchbay
`;
