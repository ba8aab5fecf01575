// The logger: JSON with an allow-list of fields. A field that is not listed is never logged. Of an error, name, code and stack frames are logged, and
// its message only if no library quotes user input in it.
import { type DestinationStream, type Logger, pino } from "pino";
import { createIsoTime } from "./iso-time.ts";

/** Ids, configured names, kinds, codes and numbers. No addresses, no text of a caller or provider. */
export const LOG_FIELDS = [
  "account",
  "app",
  "attempt",
  "attempt_id",
  "available_bytes",
  "budget_id",
  "code",
  "connection",
  "deletion_id",
  "detail",
  "event",
  "failure",
  "file",
  "host",
  "job_id",
  "left_out",
  "limit",
  "lost",
  "method",
  "model",
  "ms",
  "needed_bytes",
  "path_sha256",
  "period",
  "pid",
  "provider",
  "provider_id",
  "provider_status",
  "reason",
  "request_id",
  "route",
  "since",
  "soft_limit",
  "spent",
  "status",
  "subject",
  "task",
  "threads",
  "trace_id",
  "workspace",
] as const;

export interface LoggerOptions {
  readonly level?: string;
  /** For tests: a field that would be dropped is an error. */
  readonly isStrict?: boolean;
}

const ALLOWED: ReadonlySet<string> = new Set(LOG_FIELDS);
const MAX_CHARACTERS = 300;
const MAX_FRAMES = 12;
const MAX_CAUSES = 3;
/** JavaScript's errors and our own. Messages of databases, parsers and schemas quote the value. */
const SPEAKS_FOR_ITSELF: ReadonlySet<string> = new Set([
  "Error",
  "TypeError",
  "RangeError",
  "ReferenceError",
  "AssertionError",
  "GatewayError",
  "ProviderError",
  "ObjectMissing",
  "DataDirInUse",
]);

export function createLogger(destination: DestinationStream, options: LoggerOptions = {}): Logger {
  const isoTime = createIsoTime();
  return pino(
    {
      base: null,
      level: options.level ?? "info",
      timestamp: () => `,"time":"${isoTime(Date.now())}"`,
      serializers: { err: describeError },
      formatters: { log: (fields) => onlyAllowed(fields, options.isStrict === true) },
    },
    destination,
  );
}

function onlyAllowed(fields: Record<string, unknown>, isStrict: boolean): Record<string, unknown> {
  return isAllowed(fields) ? fields : allowedOf(fields, isStrict);
}

/** Used for the line of each request. */
function isAllowed(fields: Record<string, unknown>): boolean {
  for (const name in fields) if (!ALLOWED.has(name) || plain(fields[name]) !== fields[name]) return false;
  return true;
}

function allowedOf(fields: Record<string, unknown>, isStrict: boolean): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (name === "err") kept[name] = value;
    else if (ALLOWED.has(name)) kept[name] = plain(value);
    else if (isStrict) throw new Error(`the log has no field ${name}: list it in src/lib/logger.ts, or leave it out`);
  }
  return kept;
}

/** No nested objects: their fields are not on the list. */
function plain(value: unknown): string | number | boolean | null {
  if (typeof value === "string") return value.slice(0, MAX_CHARACTERS);
  return typeof value === "number" || typeof value === "boolean" ? value : null;
}

function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { cause, stack } = error;
  const code = "code" in error && typeof error.code === "string" ? { code: error.code.slice(0, 60) } : {};
  const isQuoting = "severity" in error || !SPEAKS_FOR_ITSELF.has(error.name);
  return {
    type: error.name.slice(0, 60),
    ...code,
    ...(isQuoting ? {} : { message: error.message.slice(0, MAX_CHARACTERS) }),
    stack: framesOf(stack),
    ...(cause === undefined || depth === MAX_CAUSES ? {} : { cause: describeError(cause, depth + 1) }),
  };
}

/** The stack without its first lines, which repeat the message. */
function framesOf(stack: string | undefined): readonly string[] {
  const lines = (stack ?? "").split("\n").map((line) => line.trim());
  return lines.filter((line) => /^at (?:async )?\S.*:\d+:\d+\)?$/u.test(line)).slice(0, MAX_FRAMES);
}
