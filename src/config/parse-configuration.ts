// Plain data to a Configuration: schema, cross references, then paths and addresses resolved.
import { resolve } from "node:path";
import type { Configuration } from "./configuration.ts";
import { crossCheck } from "./cross-check.ts";
import { type FaultPath, formatPath } from "./fault.ts";
import { checkListeners, type ListenerOverrides, listenersOf } from "./listeners.ts";
import { configurationFile, type ParsedConfiguration } from "./schema/file.ts";
import { valueAt } from "../lib/text/describe-issue.ts";
import { reachableHost } from "./reachable-host.ts";
import { type SchemaFault, schemaFaults } from "./schema-faults.ts";

export interface ParseContext {
  /** Directory that `data_dir` starts from. */
  readonly directory: string;
  /** Formatted paths of values that came by interpolation: coerced to the type asked for, never repeated in a fault. */
  readonly interpolatedPaths: ReadonlySet<string>;
  readonly overrides: ListenerOverrides;
  readonly notes: readonly string[];
}

export interface ParseResult {
  readonly configuration: Configuration | null;
  readonly faults: readonly SchemaFault[];
  readonly warnings: readonly SchemaFault[];
}

export function parseConfiguration(data: unknown, context: ParseContext): ParseResult {
  const isInterpolated = (path: FaultPath) => context.interpolatedPaths.has(formatPath(path));
  const typed = coerceInterpolated(data, isInterpolated);
  const parsed = configurationFile.safeParse(typed);
  const cross = crossCheck(typed);
  const found = parsed.success
    ? []
    : schemaFaults(configurationFile, typed, parsed.error.issues, (path) => !isInterpolated(path));
  const faults = [...found, ...cross.faults, ...checkListeners(typed, context.overrides)].map((fault) =>
    hideInterpolated(fault, typed, isInterpolated),
  );
  const configuration = parsed.success && faults.length === 0 ? resolveConfiguration(parsed.data, context) : null;
  return { configuration, faults: distinct(faults), warnings: cross.warnings };
}

/** `port: ${env:PORT}` is a text where a number is asked for: the schema's own complaint says which values to read as numbers. */
function coerceInterpolated(data: unknown, isInterpolated: (path: FaultPath) => boolean): unknown {
  const first = configurationFile.safeParse(data);
  if (first.success) return data;
  const copy: unknown = structuredClone(data);
  for (const issue of first.error.issues) {
    const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
    if (issue.code !== "invalid_type" || !isInterpolated(path)) continue;
    const value = coerce(valueAt(copy, path), issue.expected);
    const parent = valueAt(copy, path.slice(0, -1));
    const key = path.at(-1);
    if (value !== undefined && key !== undefined && typeof parent === "object" && parent !== null)
      Object.assign(parent, { [key]: value });
  }
  return copy;
}

function coerce(value: unknown, expected: string): unknown {
  if (typeof value !== "string") return undefined;
  if (expected === "boolean") return value === "true" ? true : value === "false" ? false : undefined;
  if (expected === "number" || expected === "int")
    return /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
  return undefined;
}

/** Messages that name an id or a model would repeat what an environment variable held. */
function hideInterpolated(
  fault: SchemaFault,
  data: unknown,
  isInterpolated: (path: FaultPath) => boolean,
): SchemaFault {
  const value = valueAt(data, fault.path);
  if (
    !isInterpolated(fault.path) ||
    typeof value !== "string" ||
    value === "" ||
    !fault.message.includes(`\`${value}\``)
  )
    return fault;
  return { path: fault.path, message: fault.message.replaceAll(`\`${value}\``, "(the value of the variable)") };
}

/** The schema and the cross-check may both find a value missing: the first says enough. */
function distinct(faults: readonly SchemaFault[]): readonly SchemaFault[] {
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const place = formatPath(fault.path);
    return !seen.has(place) && seen.add(place);
  });
}

function resolveConfiguration(parsed: ParsedConfiguration, context: ParseContext): Configuration {
  const listeners = listenersOf(parsed.server, context.overrides);
  return {
    ...parsed,
    server: {
      ...listeners,
      nat64: parsed.server.nat64,
      publicUrl: parsed.server.publicUrl ?? `http://${reachableHost(listeners.host)}:${listeners.port}`,
    },
    storage: {
      ...parsed.storage,
      dataDir: resolve(context.directory, parsed.storage.dataDir),
      migrateUrl: parsed.storage.migrateUrl ?? parsed.storage.databaseUrl,
    },
    notes: context.notes,
    bootstrap: null,
  };
}
