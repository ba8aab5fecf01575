// The schema of patchbay.yaml: the single source of every setting's name, type, default and description.
import { z } from "zod";
import { isPostgresUrl, isReadablePostgresUrl, WRITE_ENCODED } from "../../lib/postgres-url.ts";
import { PROVIDER_KINDS } from "../../providers/provider.ts";
import { connectionSection } from "../../contract/settings/connection.ts";
import { HTTP_URL, ID, optionalOrNull, SECRET_MARK, section, textOrNull } from "../../contract/settings/kit.ts";
import { routeSection } from "../../contract/settings/route.ts";
import { MONEY } from "../../contract/settings/app.ts";
import { alertDestination, alertThresholdsSection } from "./alerts.ts";
import { CIDR, DOMAINS, PORT } from "./kit.ts";
import { limitsSection } from "./limits.ts";
import { operatorKeySection, workspaceSection } from "./workspace.ts";

const HOST = z.string().min(1).max(253);

const HOST_NAME = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?$/u, "must be a host name without a scheme, a port or a `*`");

export const adminListener = section({
  host: HOST.default("127.0.0.1").describe("Address of the admin listener."),
  port: optionalOrNull(PORT).describe(
    "Port of the admin listener; not set: 8081, or a free one where `server.port` is 0.",
  ),
  allowed_hosts: z
    .array(HOST_NAME)
    .default([])
    .describe(
      "Host names, without a port, that the admin listener accepts in addition to addresses, `localhost`, `host` and the host of `public_url`; such as the name of a service that Prometheus scrapes.",
    ),
});

export const serverSection = section({
  host: HOST.default("127.0.0.1").describe("Address the gateway listens on; `0.0.0.0` for all."),
  port: PORT.default(8080).describe("Port the gateway listens on; 0 picks a free one."),
  public_url: optionalOrNull(HTTP_URL).describe(
    "URL at which callers reach the gateway; not set: built from host and port.",
  ),
  admin: adminListener.nullable().prefault({}).describe("Listener for metrics and administration; `null` for none."),
  nat64: z
    .boolean()
    .default(false)
    .describe(
      "This machine reaches IPv4 hosts by NAT64 and DNS64: an address in `64:ff9b::/96` is checked by its embedded IPv4 address. Default: such addresses are rejected.",
    ),
});

const objectsSection = z.discriminatedUnion("kind", [
  section({
    kind: z
      .literal("file")
      .describe(
        "Large objects in `objects` below `data_dir`; processes on several machines need a shared directory, or `s3`.",
      ),
  }),
  section({
    kind: z.literal("s3").describe("Large objects in an S3-compatible store."),
    bucket: z.string().min(1).describe("Bucket."),
    region: optionalOrNull(z.string().min(1)).describe(
      "Region; not set: the driver's default, or `us-east-1` where there is an `endpoint`.",
    ),
    endpoint: optionalOrNull(HTTP_URL).describe("Address of the store; not set: Amazon's."),
    prefix: z.string().default("").describe("Prefix of every object's name."),
    access_key_id: textOrNull().describe("Access key; not set: the driver's default."),
    secret_access_key: textOrNull().meta(SECRET_MARK).describe("Secret of the access key."),
    force_path_style: z.boolean().default(false).describe("Bucket in the path instead of the host name."),
  }),
]);

const POSTGRES_URL = textOrNull()
  .refine(
    (text) => text === null || isPostgresUrl(text),
    "must be a postgres:// URL, or empty for the embedded database",
  )
  .refine((text) => text === null || !isPostgresUrl(text) || isReadablePostgresUrl(text), WRITE_ENCODED)
  .meta(SECRET_MARK);

const storageSection = section({
  database_url: POSTGRES_URL.describe(
    "PostgreSQL to use; not set: `DATABASE_URL`, and without that the embedded database in `data_dir`.",
  ),
  listen_url: POSTGRES_URL.describe(
    "Direct connection to the same database, if `database_url` points to a transaction pooler such as PgBouncer: used for notifications and session locks. Not set: `database_url`.",
  ),
  migrate_url: POSTGRES_URL.describe(
    "The same database as the owner of the schema; not set: `PATCHBAY_MIGRATE_URL`, else `database_url`.",
  ),
  postgres_bin: textOrNull().describe(
    "Directory of PostgreSQL's programs (`initdb`, `postgres`) for the embedded database; not set: an installed PostgreSQL 15 or newer, else the one that npm installed.",
  ),
  run_as: textOrNull().describe(
    "Account that the embedded database runs as when root starts the gateway; not set: the owner of the data directory, else `patchbay`, `postgres` or `nobody`.",
  ),
  data_dir: z.string().min(1).default("./data").describe("Where files are kept, relative to the configuration file."),
  objects: objectsSection.prefault({ kind: "file" }).describe("Where large objects are kept."),
});

const modelsSection = section({
  dir: textOrNull().describe(
    "Where models that run on this machine are kept, relative to the configuration file; not set: `models` below `storage.data_dir`.",
  ),
  fetch: z
    .enum(["on_request", "never"])
    .default("on_request")
    .describe(
      "`on_request`: a model is downloaded only when a person asks for it. `never`: no downloads; `patchbay models import` still takes models from local media.",
    ),
});

/** Keys contain neither commas nor spaces, so one variable or file can contain a whole key ring. An entry of nothing else is kept as an invalid key. */
function splitKeys(entry: string): readonly string[] {
  const keys = entry.split(/[\s,]+/u).filter((key) => key !== "");
  return keys.length === 0 && entry !== "" ? [entry] : keys;
}

const secretsSection = section({
  key_pepper: textOrNull()
    .meta(SECRET_MARK)
    .describe("Secret that API keys are hashed with; created in `data_dir` if missing with the embedded database."),
  encryption_keys: z
    .array(z.string())
    .default([])
    .transform((entries) => entries.flatMap(splitKeys))
    .meta(SECRET_MARK)
    .describe(
      "Keys that encrypt stored secrets: the first encrypts, all decrypt. An entry may contain several, separated by a comma or a line break. Created in `data_dir` if missing with the embedded database.",
    ),
});

const priceSection = section({
  provider: z.enum(PROVIDER_KINDS).describe("Provider kind."),
  model: z.string().min(1).max(200).describe("Model."),
  usd_per_audio_hour: optionalOrNull(MONEY).describe("Price of an hour of audio."),
  per_channel: z.boolean().default(false).describe("Whether each channel counts."),
  usd_per_million_input_tokens: optionalOrNull(MONEY).describe("Price of a million input tokens."),
  usd_per_million_output_tokens: optionalOrNull(MONEY).describe("Price of a million output tokens."),
  free: z
    .boolean()
    .default(false)
    .describe("Workspaces with a plan may use the model although it has no price. Excludes the prices above."),
  source: optionalOrNull(z.string().min(1)).describe("Where the price was read. Required unless `free`."),
  as_of: optionalOrNull(z.iso.date({ error: "must be a date such as 2026-11-01" })).describe(
    "When it was read. Required unless `free`.",
  ),
});

const planSection = section({
  id: ID.describe("Name of the plan."),
  monthly_chat_tokens: z.int().min(0).default(0).describe("Chat tokens included each month."),
  credits_usd: MONEY.default("0").describe("Credits for metered models."),
});

export const configurationFile = section({
  server: serverSection.prefault({}).describe("Listeners."),
  storage: storageSection.prefault({}).describe("Storage of data."),
  models: modelsSection.prefault({}).describe("Models that run on this machine."),
  secrets: secretsSection.prefault({}).describe("Secrets of the installation."),
  limits: limitsSection.prefault({}).describe("Limits, as returned by `GET /v1/me/limits`."),
  retention: section({
    request_days: z
      .int()
      .min(1)
      .max(3_650)
      .default(30)
      .describe("Days the request log is kept, with the calls behind it."),
    usage_days: z.int().min(1).max(3_650).default(400).describe("Days that usage is kept for."),
  })
    .prefault({})
    .describe("How long records are kept."),
  audio_url: section({
    global_domains: DOMAINS.default([]).describe("Hosts allowed to every workspace."),
    allowed_ports: z.array(z.int().min(1).max(65_535)).default([443]).describe("Ports a URL may name."),
  })
    .prefault({})
    .describe("Remote audio."),
  webhooks: section({
    allow_http: z.boolean().default(false).describe("Deliver to http:// receivers too."),
    allowed_private_cidrs: z.array(CIDR).default([]).describe("Private ranges receivers may be in."),
  })
    .prefault({})
    .describe("Completion webhooks."),
  alerts: z
    .array(alertDestination)
    .max(20)
    .default([])
    .describe("Destinations of the operator's alerts. Changes apply at the next start."),
  alert_thresholds: alertThresholdsSection.prefault({}).describe("When alerts are sent."),
  byok: section({
    allowed_private_cidrs: z
      .array(CIDR)
      .default([])
      .describe("Private ranges a workspace's own connections may be in."),
  })
    .prefault({})
    .describe("Workspaces' own provider accounts."),
  model_life: section({
    ask_providers_daily: z
      .boolean()
      .default(false)
      .describe(
        "Ask each provider account whose list of models has shutdown dates (OpenAI) for that list once a day. Free, and sent by one process.",
      ),
  })
    .prefault({})
    .describe("Days on which providers end models."),
  local: section({
    threads: optionalOrNull(z.int().min(1).max(64)).describe(
      "Threads of each loaded model on this machine; not set: one less than the processors, at most 4.",
    ),
    idle_seconds: z.int().min(1).max(86_400).default(600).describe("A model that is not used for so long is unloaded."),
    max_queue_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(900)
      .describe("Audio that may wait for one model; with more, requests go to the next target and jobs wait."),
    max_memory_bytes: optionalOrNull(z.int().min(67_108_864)).describe(
      "Memory that loaded models may use together, as estimated from their files; not set: what the machine and the container have left.",
    ),
  })
    .prefault({})
    .describe("Recognition on this machine (`kind: local`)."),
  operator_keys: z.array(operatorKeySection).default([]).describe("Keys of the operator."),
  prices: z
    .array(priceSection)
    .default([])
    .describe("What the gateway charges; a model without a price is provider-billed."),
  plans: z.array(planSection).default([]).describe("Plans workspaces may have."),
  connections: z.array(connectionSection).default([]).describe("Shared provider accounts."),
  routes: z.array(routeSection).default([]).describe("Shared routes."),
  workspaces: z.array(workspaceSection).default([]).describe("Workspaces with their apps and keys."),
});

export type ConfigurationFile = z.input<typeof configurationFile>;
export type ParsedConfiguration = z.output<typeof configurationFile>;
