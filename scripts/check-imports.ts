// The import table of ARCHITECTURE.md, checked: who may import whom, which files may open sockets or read the environment.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Folder → folders of ours it may import. `*` is everything. A single file may have a row of its own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | "*">> = {
  contract: [],
  lib: [],
  outbound: ["lib", "contract", "providers/io.ts"],
  providers: ["contract", "lib", "outbound", "audio/media-types.ts"],
  routing: ["contract", "lib", "audio/media-types.ts", "providers/provider.ts", "providers/chat-provider.ts"],
  captions: ["contract", "lib"],
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
    "outbound",
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
  webhooks: ["contract", "lib", "storage", "queue", "outbound"],
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
  ],
  config: [
    "contract",
    "lib",
    "audio/media-types.ts",
    "auth/key-format.ts",
    "providers/provider.ts",
    "providers/registry.ts",
    "providers/catalog.ts",
  ],
  cli: ["contract", "lib", "config", "audio/media-types.ts"],
  telemetry: [
    "contract",
    "lib",
    "outbound/dial.ts",
    "gateway/call-watch.ts",
    "gateway/request-record.ts",
    "http/edge.ts",
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
    "cli/exit-codes.ts",
    "cli/gateway-client.ts",
    "cli/operations-commands.ts",
    "cli/package-root.ts",
    "cli/route-commands.ts",
    "cli/terminal.ts",
    "directory",
    "gateway/audio-call.ts",
    "gateway/explain-route.ts",
    "http/can-listen.ts",
    "jobs/services.ts",
    "providers/health.ts",
    "providers/registry.ts",
    "webhooks/queues.ts",
  ],
  "app.ts": "*",
  "open-admin.ts": "*",
  "open-public.ts": "*",
  "open-io.ts": "*",
  "open-jobs.ts": "*",
  "open-remembered.ts": "*",
  "open-telemetry.ts": "*",
  "main.ts": "*",
  "up.ts": "*",
  "work.ts": "*",
  "processes.ts": "*",
  "prepare.ts": "*",
  "first-start.ts": "*",
};

/** Modules that open sockets or read the environment, and the only files that may. */
const RESTRICTED: readonly { readonly pattern: RegExp; readonly what: string; readonly allowed: RegExp }[] = [
  {
    pattern:
      /(from |import\()"(node:net|node:tls|node:http|node:https|node:http2|node:dgram|node:dns.*)"|getBuiltinModule|createRequire/u,
    what: "opens sockets",
    allowed: /^src\/(outbound\/system-network\.ts|http\/)/u,
  },
  { pattern: /from "undici"/u, what: "speaks HTTP to others", allowed: /^src\/outbound\/(dial|wire-call)\.ts/u },
  {
    pattern: /from "ws"/u,
    what: "speaks WebSocket",
    allowed: /^src\/(outbound\/socket\.ts|http\/)/u,
  },
  {
    // Nobody else may give the guard a resolver or a connector.
    pattern: /from ".*outbound\/system-network\.ts"|\bcreate(Outbound|Guard)\(/u,
    what: "opens a way out",
    allowed: /^src\/(app\.ts|outbound\/(dial|guard)\.ts)/u,
  },
  {
    pattern: /\bfetch\(|\bnew EventSource\(/u,
    what: "calls fetch",
    allowed: /^src\/(cli\/|first-start\.ts|operations\/check-network\.ts)/,
  },
  {
    pattern: /\bnew WebSocket\(/u,
    what: "opens a WebSocket",
    allowed: /^src\/outbound\/socket\.ts/u,
  },
  { pattern: /process\.env/u, what: "reads the environment", allowed: /^src\/(config\/|main\.ts|prepare\.ts)/u },
];

/**
 * The only files outside `storage` and `operations` that may take the system's sight, every workspace's rows: batches, claims,
 * sweeps, purges, the look-up of keys, the directory, the operator's own API. Whatever a handler reads or writes for one workspace
 * goes through `database.inWorkspace`.
 */
const SYSTEM_SIGHT: ReadonlySet<string> = new Set([
  "admin/app-settings.ts",
  "admin/audit-checkpoint.ts",
  "admin/connections.ts",
  "admin/list-models.ts",
  "admin/plans.ts",
  "admin/purposes.ts",
  "admin/set-up-scope.ts",
  "admin/verify-audit.ts",
  "admin/workspaces.ts",
  "auth/key-use.ts",
  "auth/realtime-tokens.ts",
  "auth/require-role.ts",
  "directory/apply-configuration.ts",
  "directory/find-key.ts",
  "directory/find-principal.ts",
  "directory/follow-directory.ts",
  "directory/load-directory.ts",
  "first-start.ts",
  "gateway/provider-deletions.ts",
  "http/admin/audit.ts",
  "jobs/call-targets.ts",
  "jobs/keeper.ts",
  "jobs/leases.ts",
  "jobs/open-audio.ts",
  "jobs/run-job.ts",
  "jobs/spent-audio.ts",
  "jobs/sweep.ts",
  "jobs/transact-for.ts",
  "metering/grow-lease.ts",
  "metering/leases.ts",
  "metering/ledger.ts",
  "metering/settle-leased.ts",
  "open-telemetry.ts",
  "quotas/shared-counters.ts",
  "requests/log.ts",
  "requests/roll-up.ts",
  "webhooks/claim.ts",
  "webhooks/record-attempt.ts",
  "webhooks/sweep.ts",
]);
const TAKES_SYSTEM_SIGHT = /\bdatabase\.(db|transaction)\b|\btransact\(|\{ db[ ,}].*Database/u;

/** The rooms that may hold statements; all others call their functions. */
const STATES_SQL =
  /^src\/((admin|auth|directory|metering|operations|queue|storage|webhooks)\/|first-start\.ts|jobs\/keeper\.ts)/u;
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
  const isTrusted = /^src\/(storage|operations)\//u.test(file) || SYSTEM_SIGHT.has(file.slice(4));
  if (!isTrusted && TAKES_SYSTEM_SIGHT.test(withoutComments(text)))
    faults.push(`${file}: sees every workspace's rows; use database.inWorkspace, or give SYSTEM_SIGHT a reason`);
  if (!STATES_SQL.test(file) && STATEMENT.test(text)) faults.push(`${file}: states SQL, which is not its place`);
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

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gmu, "");
}

function roomOf(file: string): string {
  return file.split("/")[1] ?? "";
}
