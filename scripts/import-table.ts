// The rules of imports as data: which folders of src may import each other, and which files may use modules that open sockets, SQL or the environment.
// Checked by `check-imports.ts`.

/** Folder of src → what it may import besides itself: folders, subfolders or files of src. `*`: everything. */
export const FOLDERS: Readonly<Record<string, readonly string[] | "*">> = {
  contract: [],
  lib: [],
  client: ["contract"],
  mcp: ["contract", "lib"],
  page: ["contract"],
  console: ["contract", "lib", "page"],
  playground: ["contract", "lib", "captions", "page"],
  captions: ["contract", "lib"],
  objects: ["lib"],
  outbound: ["lib", "contract"],
  audio: ["contract", "lib", "outbound"],
  providers: ["contract", "lib", "outbound", "audio/media-types.ts", "local-models"],
  routing: [
    "contract",
    "lib",
    "providers/provider.ts",
    "providers/chat/chat-provider.ts",
    "providers/life-status.ts",
    "providers/model-life.ts",
    "providers/data-policy/policy-fact.ts",
  ],
  "local-models": ["contract", "lib", "outbound", "storage/embedded/installation-lock.ts"],
  storage: ["contract", "lib"],
  queue: ["lib", "storage"],
  metering: ["contract", "lib", "storage"],
  auth: ["contract", "lib", "storage"],
  quotas: ["contract", "lib", "storage", "auth"],
  config: [
    "contract",
    "lib",
    "auth/key-format.ts",
    "providers/provider.ts",
    "providers/registry.ts",
    "providers/life-status.ts",
    "providers/model-life.ts",
    "providers/data-policy/regional-hosts.ts",
  ],
  directory: ["contract", "lib", "config", "storage", "metering", "auth", "providers", "routing"],
  gateway: [
    "contract",
    "lib",
    "providers",
    "routing",
    "captions",
    "audio",
    "metering",
    "quotas",
    "storage",
    "auth",
    "directory",
    "config/configuration.ts",
  ],
  jobs: [
    "contract",
    "lib",
    "providers",
    "routing",
    "captions",
    "audio",
    "metering",
    "storage",
    "auth",
    "gateway",
    "objects",
    "queue",
    "webhooks/store",
  ],
  admin: [
    "contract",
    "lib",
    "storage",
    "auth",
    "config",
    "directory",
    "metering",
    "outbound",
    "providers",
    "gateway",
    "jobs/store",
    "local-models",
  ],
  webhooks: ["contract", "lib", "storage", "queue", "outbound", "admin/precondition.ts"],
  requests: ["contract", "lib", "storage", "metering", "auth", "gateway"],
  alerts: [
    "contract",
    "lib",
    "storage",
    "metering",
    "webhooks",
    "config/configuration.ts",
    "directory/account-key.ts",
    "directory/snapshot.ts",
    "gateway/calls/circuit-name.ts",
    "gateway/calls/observer.ts",
    "gateway/request-record.ts",
    "gateway/retirement",
    "jobs/store",
    "providers/health.ts",
  ],
  http: [
    "contract",
    "lib",
    "auth",
    "audio/audio-input.ts",
    "audio/audio-too-large.ts",
    "audio/spool.ts",
    "audio/base64.ts",
    "gateway",
    "webhooks",
    "jobs",
    "admin",
    "requests",
    "mcp",
  ],
  telemetry: [
    "contract",
    "lib",
    "outbound/dial.ts",
    "gateway/calls/observer.ts",
    "gateway/request-record.ts",
    "http/server/edge.ts",
  ],
  cli: ["contract", "lib", "config", "mcp", "client/multipart.ts", "webhooks/verify.ts"],
  operations: [
    "contract",
    "lib",
    "admin",
    "alerts",
    "auth",
    "cli",
    "config",
    "directory",
    "gateway",
    "jobs",
    "local-models",
    "objects",
    "outbound/dial.ts",
    "providers",
    "queue",
    "requests",
    "storage",
    "webhooks",
    "audio/decode",
    "audio/measure.ts",
    "http/server/check-port.ts",
    "start/local-speech.ts",
  ],
  compose: "*",
  start: "*",
  "main.ts": "*",
};

export interface Restriction {
  readonly what: string;
  /** Modules, or files of src, as glob patterns. */
  readonly targets: readonly string[];
  /** Only these exports of the targets. Absent: all. */
  readonly names?: readonly string[];
  /** Files and folders of src that may import them, as glob patterns. Type imports are always allowed. */
  readonly only: readonly string[];
  /** Whether other files may load them dynamically. */
  readonly allowsDynamic?: boolean;
}

export const RESTRICTIONS: readonly Restriction[] = [
  {
    what: "opens sockets",
    targets: ["node:net", "node:tls", "node:http", "node:https", "node:http2", "node:dgram", "node:dns{,/*}"],
    only: [
      "outbound/system-network.ts",
      "http",
      "client/audio-body.ts",
      "start/self-check.ts",
      "storage/embedded/remaining-server.ts",
      "storage/embedded/free-port.ts",
    ],
  },
  {
    what: "is an HTTP client",
    targets: ["undici"],
    only: ["outbound/dial.ts", "outbound/guarded-requests.ts", "outbound/wire-call.ts"],
  },
  { what: "is a WebSocket client and server", targets: ["ws"], only: ["outbound/socket.ts", "http"] },
  { what: "routes requests", targets: ["find-my-way"], only: ["http/server/server.ts"] },
  {
    what: "gives the SSRF guard a resolver or a connector",
    targets: ["src/outbound/system-network.ts"],
    only: ["compose/outbound.ts", "outbound/dial.ts", "outbound/guard.ts", "outbound/guarded-requests.ts"],
  },
  {
    what: "loads the library of the tools, for which other callers should not wait",
    targets: [
      "@modelcontextprotocol/**",
      "src/mcp/answer-message.ts",
      "src/mcp/tool-answers.ts",
      "src/mcp/tool-server.ts",
    ],
    only: ["mcp"],
    allowsDynamic: true,
  },
  {
    what: "bypasses row-level security",
    targets: ["src/storage/database.ts"],
    names: ["systemAccess", "asSystemHandle", "asSystemTransaction"],
    only: ["storage/system.ts", "storage/connection/open-database.ts"],
  },
];

export interface TextRule {
  readonly what: string;
  readonly text: RegExp;
  /** Files and folders of src, as glob patterns. */
  readonly only: readonly string[];
}

/** What no import shows. Comments are ignored. */
export const TEXT_RULES: readonly TextRule[] = [
  {
    what: "calls fetch",
    text: /\bfetch\(|\bnew EventSource\(/u,
    only: ["cli", "client", "page", "playground", "operations/doctor/check-network.ts"],
  },
  {
    what: "opens a way out of the process",
    text: /\bcreate(Outbound|Guard|GuardedRequests)\(/u,
    only: ["compose/outbound.ts", "outbound/dial.ts", "outbound/guard.ts", "outbound/guarded-requests.ts"],
  },
  { what: "opens a WebSocket", text: /\bnew WebSocket\(/u, only: ["outbound/socket.ts"] },
  {
    what: "loads modules that the table cannot see",
    text: /getBuiltinModule|createRequire/u,
    only: ["client/audio-body.ts"],
  },
  {
    what: "reads the environment",
    text: /process\.env/u,
    only: ["config", "main.ts", "start/prepare.ts", "start/own-embedded-server.ts", "start/require-ports.ts"],
  },
  {
    what: "contains SQL, which belongs in a store folder",
    text: /\b(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\("|sql(<[^`]*>)?`\s*(select|insert|update|delete|with|lock|merge) /u,
    only: ["**/store", "storage"],
  },
];
