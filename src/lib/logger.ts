// The log (reliability 6): JSON by an allow-list. A field that is not listed here never gets out, whatever is in it; of an error its
// kind, code and place do, and its message only where no library quotes somebody's input in it.
import { type DestinationStream, type Logger, pino } from "pino";
import { createIsoTime } from "./iso-time.ts";

/** Ids, names an operator configured, kinds, codes and figures. No addresses, no text of a caller's or a provider's. */
export const LOG_FIELDS = [
  "account",
  "app",
  "attempt",
  "attempt_id",
  "budget_id",
  "code",
  "connection",
  "deletion_id",
  "detail",
  "event",
  "failure",
  "host",
  "job_id",
  "left_out",
  "limit",
  "lost",
  "method",
  "model",
  "ms",
  "path_sha256",
  "period",
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
  "trace_id",
  "workspace",
] as const;

export interface LoggerOptions {
  readonly level?: string;
  /** For tests: a field that would be left out is a fault. */
  readonly isStrict?: boolean;
}

const ALLOWED: ReadonlySet<string> = new Set(LOG_FIELDS);
const MAX_CHARACTERS = 300;
const MAX_FRAMES = 12;
const MAX_CAUSES = 3;
/** Errors of the language and of ours. A database's, a parser's or a schema's message quotes the value it is about. */
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

/** As a line for each request is. */
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

/** No structure: what is in it nobody has listed. */
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

/** Where, and not what: the first lines of a stack are the message. */
function framesOf(stack: string | undefined): readonly string[] {
  const lines = (stack ?? "").split("\n").map((line) => line.trim());
  return lines.filter((line) => /^at (?:async )?\S.*:\d+:\d+\)?$/u.test(line)).slice(0, MAX_FRAMES);
}
