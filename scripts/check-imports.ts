// Checks which folders may import each other, and which files may open sockets or read the environment.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Folder → folders of src that it may import. `*`: all. A single file may have its own row. */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | "*">> = {
  contract: [],
  client: ["contract"],
  lib: [],
  outbound: ["lib", "contract"],
  providers: ["contract", "lib", "outbound", "audio/media-types.ts"],
  routing: ["contract", "lib", "providers/provider.ts", "providers/chat/chat-provider.ts"],
  captions: ["contract", "lib"],
  page: ["contract"],
  playground: ["contract", "lib", "captions", "page"],
  console: ["contract", "lib", "page"],
  audio: ["contract", "lib", "outbound"],
  storage: ["contract", "lib"],
  queue: ["lib", "storage"],
  objects: ["lib"],
  quotas: ["contract", "lib", "storage", "auth"],
  metering: ["contract", "lib", "storage"],
  auth: ["contract", "lib", "storage"],
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
  ],
  admin: ["contract", "lib", "storage", "auth", "config", "directory", "metering", "outbound", "providers", "gateway"],
  webhooks: ["contract", "lib", "storage", "queue", "outbound", "admin/precondition.ts"],
  requests: ["contract", "lib", "storage", "metering", "auth", "gateway"],
  http: [
    "contract",
    "lib",
    "auth",
    "audio/audio-input.ts",
    "audio/spool.ts",
    "audio/base64.ts",
    "gateway",
    "webhooks",
    "jobs",
    "admin",
    "requests",
    "mcp",
  ],
  mcp: ["contract", "lib"],
  config: ["contract", "lib", "auth/key-format.ts", "providers/provider.ts", "providers/registry.ts"],
  cli: ["contract", "lib", "config", "mcp", "client/multipart.ts", "webhooks/verify.ts"],
  telemetry: [
    "contract",
    "lib",
    "outbound/dial.ts",
    "gateway/calls/observer.ts",
    "gateway/request-record.ts",
    "http/server/edge.ts",
  ],
  operations: [
    "contract",
    "lib",
    "admin",
    "config",
    "storage",
    "objects",
    "queue",
    "audio/decode",
    "audio/measure.ts",
    "auth",
    "cli/api-key.ts",
    "cli/confirm.ts",
    "cli/exit-codes.ts",
    "cli/gateway-client.ts",
    "cli/gateway-session.ts",
    "cli/gateway-url.ts",
    "cli/operate/operations-commands.ts",
    "cli/package-root.ts",
    "cli/inspect/route-commands.ts",
    "cli/terminal.ts",
    "directory",
    "gateway/dry-run/explain-route.ts",
    "gateway/transcription/unmeasured-audio.ts",
    "http/server/check-port.ts",
    "jobs/services.ts",
    "providers/health.ts",
    "providers/registry.ts",
    "webhooks/queues.ts",
    "webhooks/receivers.ts",
  ],
  "compose/app.ts": "*",
  "compose/metering.ts": "*",
  "compose/admin-endpoints.ts": "*",
  "compose/public-endpoints.ts": "*",
  "compose/provider-io.ts": "*",
  "compose/jobs.ts": "*",
  "compose/outbound.ts": "*",
  "compose/caches.ts": "*",
  "compose/servers.ts": "*",
  "compose/telemetry.ts": "*",
  "main.ts": "*",
  "start/up.ts": "*",
  "start/work.ts": "*",
  "start/processes.ts": "*",
  "start/own-embedded-server.ts": "*",
  "start/prepare.ts": "*",
  "start/stop-signal.ts": ["cli/exit-codes.ts"],
  "start/first-start.ts": "*",
  "start/npm-shell.ts": [],
  "start/start-report.ts": "*",
  "start/await-predecessor.ts": "*",
};

/** Modules that open sockets or read the environment, and the only files that may import them. */
const RESTRICTED: readonly { readonly pattern: RegExp; readonly what: string; readonly allowed: RegExp }[] = [
  {
    pattern:
      /(from |import\()"(node:net|node:tls|node:http|node:https|node:http2|node:dgram|node:dns.*)"|getBuiltinModule|createRequire/u,
    what: "opens sockets",
    allowed:
      /^src\/(outbound\/system-network\.ts|http\/|client\/audio-body\.ts|storage\/embedded\/(remaining-server|free-port)\.ts)/u,
  },
  {
    pattern: /from "undici"/u,
    what: "speaks HTTP to others",
    allowed: /^src\/outbound\/(dial|caller-way|wire-call)\.ts/u,
  },
  {
    pattern: /from "ws"/u,
    what: "speaks WebSocket",
    allowed: /^src\/(outbound\/socket\.ts|http\/)/u,
  },
  {
    // No other file may give the guard a resolver or a connector.
    pattern: /from ".*outbound\/system-network\.ts"|\bcreate(Outbound|Guard|CallerWay)\(/u,
    what: "opens a way out",
    allowed: /^src\/(open-outbound\.ts|outbound\/(dial|guard|caller-way)\.ts)/u,
  },
  {
    pattern: /\bfetch\(|\bnew EventSource\(/u,
    what: "calls fetch",
    allowed: /^src\/(cli\/|client\/|page\/|playground\/|first-start\.ts|operations\/doctor\/check-network\.ts)/,
  },
  {
    pattern: /\bnew WebSocket\(/u,
    what: "opens a WebSocket",
    allowed: /^src\/outbound\/socket\.ts/u,
  },
  {
    // Only for `/mcp` and `patchbay mcp`, so that no other caller waits for the library to load.
    pattern: /from "(@modelcontextprotocol\/.*|.*\/mcp\/(answer-message|tool-answers|tool-server)\.ts)"/u,
    what: "loads the library of the tools with everything else",
    allowed: /^src\/mcp\//u,
  },
  {
    pattern: /process\.env/u,
    what: "reads the environment",
    allowed: /^src\/(config\/|main\.ts|prepare\.ts|own-embedded-server\.ts)/u,
  },
];

/**
 * Reasons to read rows of every workspace, as `storage/system.ts` names them, and the files that may use each. All other files access one workspace through
 * `database.inWorkspace`.
 */
const SYSTEM_SIGHT: Readonly<Record<string, readonly string[]>> = {
  batches: [
    "auth/key-use.ts",
    "metering/grow-lease.ts",
    "metering/leases.ts",
    "metering/ledger.ts",
    "metering/settle-leased.ts",
    "metering/lease-reclaimer.ts",
    "quotas/shared-counters.ts",
    "requests/log.ts",
    "requests/store/usage-hours.ts",
  ],
  claims: [
    "gateway/idempotency/idempotency.ts",
    "gateway/calls/provider-deletions.ts",
    "jobs/run/await-recording.ts",
    "jobs/run/enter-stage.ts",
    "jobs/run/call-journal.ts",
    "jobs/leases.ts",
    "jobs/run/open-audio.ts",
    "jobs/run/run-job.ts",
    "jobs/spent-audio.ts",
    "jobs/run/app-mutex.ts",
  ],
  sweeps: [
    "gateway/calls/provider-deletions.ts",
    "jobs/sweep.ts",
    "metering/leases.ts",
    "metering/ledger.ts",
    "metering/report-soft-limits.ts",
    "quotas/shared-counters.ts",
    "requests/log.ts",
    "requests/roll-up.ts",
    "directory/store/connection-pauses.ts",
    "storage/vacuum.ts",
    "webhooks/sweep.ts",
  ],
  lookUps: ["auth/realtime-tokens.ts", "auth/require-role.ts", "directory/find-key.ts", "directory/find-principal.ts"],
  installation: [
    "directory/apply-configuration.ts",
    "directory/follow-directory.ts",
    "directory/large-routes.ts",
    "directory/load-directory.ts",
    "start/first-start.ts",
    "operations/backup/collect-backup.ts",
    "operations/doctor/check-storage.ts",
    "operations/explain/explain-here.ts",
    "operations/backup/restore.ts",
    "operations/rotate-secrets.ts",
    "operations/store/unreadable-answers.ts",
    "storage/secrets/key-pepper.ts",
    "storage/secrets/rotate-keys.ts",
  ],
  engine: ["queue/queue.ts", "storage/connection/changes.ts", "storage/connection/database-clock.ts"],
  operatorsSight: [
    "admin/audit/audit-checkpoint.ts",
    "admin/money/plans.ts",
    "admin/connections/provider-health.ts",
    "admin/audit/verify-audit.ts",
    "admin/workspaces.ts",
    "compose/telemetry.ts",
  ],
};
/** Files that create or name the handle. */
const HOLDS_SYSTEM_SIGHT = /^src\/storage\/(database|open-database|transact|system)\.ts$/u;
const TAKES_SYSTEM_SIGHT =
  /\bdatabase\??\.(db|transaction)\b|\btransact(Again)?\((services\.)?database\b|\{[^{}\n]*\b(db|transaction)\b[^{}\n]*\}(: [^=;\n]*\bDatabase\b| = [\w.]*\bdatabase\b)|database: \{ ?(db|transaction)\b/u;

/** The folders that may contain SQL; all others call their functions. */
const STATES_SQL =
  /^src\/((admin|auth|directory|metering|operations|queue|storage|webhooks)\/|first-start\.ts|jobs\/run\/call-journal\.ts)/u;
const STATEMENT =
  /\b(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\("|sql(<[^`]*>)?`\s*(select|insert|update|delete|with|lock|merge) /u;

const faults: string[] = [];
for (const file of globSync("src/**/*.ts").map((path) => path.replaceAll("\\", "/"))) {
  const text = readFileSync(file, "utf8");
  const from = roomOf(file);
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) faults.push(`${file}: the folder src/${from} has no row in the import table`);
  for (const [, specifier] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/gu)) {
    if (specifier === undefined || allowed === "*" || allowed === undefined) continue;
    const target = normalize(join(dirname(file), specifier)).replaceAll("\\", "/");
    if (!target.startsWith("src/")) {
      faults.push(`${file}: imports ${target}, outside src`);
    } else if (
      roomOf(target) !== from &&
      !allowed.some((entry) => target.slice(4) === entry || target.slice(4).startsWith(`${entry}/`))
    ) {
      faults.push(`${file}: ${from} may not import ${target.slice(4)}`);
    }
  }
  if (!HOLDS_SYSTEM_SIGHT.test(file) && TAKES_SYSTEM_SIGHT.test(withoutComments(text)))
    faults.push(`${file}: takes the system's sight past storage/system.ts; use database.inWorkspace, or name a reason`);
  for (const reason of reasonsOf(text))
    if (SYSTEM_SIGHT[reason]?.includes(file.slice(4)) !== true)
      faults.push(`${file}: sees every workspace's rows for ${reason}, and is not on that list`);
  if (!STATES_SQL.test(file) && STATEMENT.test(text)) faults.push(`${file}: states SQL, which is not its place`);
  if (from === "client") {
    const loaded = [...text.matchAll(/^(?:import|export) (?!type\b)(?:[^;]* from )?"(?!\.\/)([^"]+)"/gmu)];
    for (const [, module = ""] of loaded)
      faults.push(`${file}: loads ${module}, which a browser would have to load too`);
  }
  for (const rule of RESTRICTED) {
    const runtimeLines = text
      .split("\n")
      .filter((line) => !line.trimStart().startsWith("import type") && !/^\s*(\/\/|\*)/u.test(line));
    if (!rule.allowed.test(file) && runtimeLines.some((line) => rule.pattern.test(line)))
      faults.push(`${file}: ${rule.what}, which is not its place`);
  }
}

for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? "imports: every file keeps to the table" : `imports: ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Imports from `storage/system.ts`, except types and functions bound to one workspace. */
function reasonsOf(text: string): readonly string[] {
  const imports = [...text.matchAll(/^(?:import|export) (\{[^}]*\}|\*[^"]*) from "[^"]*\/system\.ts"/gmu)];
  return imports
    .flatMap(([, names = ""]) =>
      names
        .replaceAll(/[{}]/gu, "")
        .split(",")
        .map((name) => name.trim()),
    )
    .filter(
      (name) => !["", "asWorkspaceOrSystem", "changeAsWorkspaceOrSystem"].includes(name) && !name.startsWith("type "),
    );
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gmu, "");
}

function roomOf(file: string): string {
  return file.split("/")[1] ?? "";
}
