// The configuration that `patchbay init --for production` writes: a PostgreSQL server, an object store, several processes.

export const PRODUCTION_CONFIGURATION = `# Patchbay in production: PostgreSQL, an object store, and as many gateways and workers as you like, all with this file.
#
# A line that begins with # and a blank is a comment. A line that begins with # alone is an option that is switched off.
# Check this file: \`patchbay config validate\`; the machine and the services: \`patchbay doctor\`. Every option: docs/configuration.md.
# Secrets stay out of it: .env.example names its variables. Roles, backup, upgrades: docs/operations.md. Sizes: docs/scaling.md.

server:
  host: 0.0.0.0
  port: 8080
  # TLS ends at a proxy in front of the gateways. Error messages and result links contain this address.
  public_url: "\${env:PATCHBAY_PUBLIC_URL}"
  # Metrics and administration: not for the public.
  admin:
    host: 127.0.0.1
    port: 8081
    # Names, in addition to addresses, under which Prometheus and you reach it. Needs host: 0.0.0.0.
    #allowed_hosts: [patchbay.internal]

storage:
  # sslmode=verify-full checks the server's certificate and name; sslrootcert=PATH names a private authority.
  database_url: "\${env:DATABASE_URL}"
  # The owner of the schema, for migrations. Not set: database_url.
  #migrate_url: "\${env:PATCHBAY_MIGRATE_URL}"
  # A direct connection, where database_url is a transaction pooler such as PgBouncer.
  #listen_url: "\${env:PATCHBAY_LISTEN_URL}"
  # Of this machine: the address of its gateway, models. Nothing in it is lost with it.
  data_dir: ./data
  # Recordings and large results of jobs, for all machines.
  objects:
    kind: s3
    bucket: "\${env:S3_BUCKET}"
    region: "\${env:S3_REGION}"
    access_key_id: "\${env:S3_ACCESS_KEY_ID}"
    secret_access_key: "\${env:S3_SECRET_ACCESS_KEY}"
    prefix: patchbay/
    # Another store than Amazon's, such as MinIO.
    #endpoint: "\${env:S3_ENDPOINT}"
    #force_path_style: true

# The same for every process. Without them, stored keys and credentials cannot be read: keep a copy elsewhere.
secrets:
  key_pepper: "\${env:PATCHBAY_KEY_PEPPER}"
  # To rotate, put the new key first and run \`patchbay secrets rotate\`.
  encryption_keys: ["\${env:PATCHBAY_ENCRYPTION_KEY}"]

limits:
  max_job_audio_bytes: 524288000
  # Of each process.
  job_concurrency: 16
  #sync_timeout_seconds: 300

retention: { request_days: 30, usage_days: 400 }

operator_keys:
  - { id: operator, secret: "\${env:PATCHBAY_OPERATOR_KEY}" }

connections:
  - { id: deepgram, kind: deepgram, api_key: "\${env:DEEPGRAM_API_KEY}" }
  - { id: openai, kind: openai, api_key: "\${env:OPENAI_API_KEY}" }

# A route is a list of targets. The first that can do everything a request requires, and is available, serves it.
routes:
  - id: speech
    targets:
      - { connection: deepgram, model: nova-3 }
      - { connection: openai, model: gpt-transcribe }
    # Recordings beyond a model's limit are cut at pauses. Other formats than WAV need ffmpeg on the PATH.
    #split_long_audio: true
  - id: chat
    targets:
      - { connection: openai, model: gpt-6-luna }

# What apps are charged. A model without a price costs nothing in budgets of dollars.
#prices:
#  - { provider: deepgram, model: nova-3, usd_per_audio_hour: "0.29", source: "our contract", as_of: 2026-11-01 }

# Workspaces, apps and keys may also be made through the API and the console. What is here is managed by this file.
workspaces:
  - id: main
    apps:
      - id: first
        route: chat
        # Audio goes elsewhere than chat.
        audio_input_override: speech
        quota: { requests_per_minute: 600, concurrent: 50 }
        #budgets: [{ period: month, limit_usd: "500.00", soft_limit: 0.8 }]
        keys:
          - { id: first-key, secret: "\${env:PATCHBAY_APP_KEY}", scopes: [transcribe, chat, jobs] }

# Reports retired models, open circuits, spent budgets, failing jobs and low disks. Test it: \`patchbay alerts test\`.
#alerts: [{ url: "\${env:ALERTS_URL}" }]

# Asks providers once a day when their models end.
#model_life: { ask_providers_daily: true }

# Receivers of webhooks in private networks.
#webhooks: { allowed_private_cidrs: [10.0.0.0/8] }
`;

export const PRODUCTION_VARIABLES = `# The variables that patchbay.yaml reads. Copy this file to .env, fill it in, and keep .env out of version control. Then:
#   set -a; . ./.env; set +a
#   patchbay doctor
#   patchbay up --processes 4

DATABASE_URL=postgres://patchbay:PASSWORD@db.internal:5432/patchbay?sslmode=verify-full
PATCHBAY_PUBLIC_URL=https://speech.example.com

# \`openssl rand -base64 32\` for each, once. Every process has the same.
PATCHBAY_KEY_PEPPER=
PATCHBAY_ENCRYPTION_KEY=

# The object store.
S3_BUCKET=patchbay
S3_REGION=eu-central-1
S3_ACCESS_KEY_ID=
S3_SECRET_ACCESS_KEY=

# Provider accounts.
DEEPGRAM_API_KEY=
OPENAI_API_KEY=

# Keys of your own choosing, 24 to 128 visible ASCII characters each, such as \`openssl rand -hex 24\` prints.
PATCHBAY_OPERATOR_KEY=
PATCHBAY_APP_KEY=

# For the options that are switched off.
# PATCHBAY_MIGRATE_URL=postgres://patchbay_owner:PASSWORD@db.internal:5432/patchbay?sslmode=verify-full
# PATCHBAY_LISTEN_URL=postgres://patchbay:PASSWORD@db.internal:5432/patchbay?sslmode=verify-full
# S3_ENDPOINT=https://minio.internal:9000
# ALERTS_URL=https://hooks.example.com/patchbay
`;
