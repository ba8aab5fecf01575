// Parses plain data into a Configuration: schema, cross-checks, then resolved paths and addresses.
import { join, resolve } from "node:path";
import type { Configuration } from "./configuration.ts";
import { crossCheck } from "./cross-check.ts";
import { type FaultPath, formatPath } from "./fault.ts";
import { checkListeners, type ListenerOverrides, listenersOf } from "./listeners.ts";
import { configurationFile, type ParsedConfiguration } from "./schema/file.ts";
import { valueAt } from "../lib/text/describe-issue.ts";
import { reachableHost } from "./reachable-host.ts";
import { type SchemaFault, schemaFaults } from "./schema-faults.ts";

/** Folder of the data directory, unless `models.dir` is set. */
export const MODELS_FOLDER = "models";

export interface ParseContext {
  /** Base directory of `data_dir`. */
  readonly directory: string;
  /** Formatted paths of interpolated values: they are coerced to the expected type and never repeated in a fault. */
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
  const coerced = coerceInterpolated(data, isInterpolated);
  const parsed = configurationFile.safeParse(coerced);
  const cross = crossCheck(coerced);
  const issueFaults = parsed.success
    ? []
    : schemaFaults(configurationFile, coerced, parsed.error.issues, (path) => !isInterpolated(path));
  const faults = [...issueFaults, ...cross.faults, ...checkListeners(coerced, context.overrides)].map((fault) =>
    hideInterpolated(fault, coerced, isInterpolated),
  );
  const configuration = parsed.success && faults.length === 0 ? resolveConfiguration(parsed.data, context) : null;
  return { configuration, faults: distinct(faults), warnings: cross.warnings };
}

/** An interpolated `port: ${env:PORT}` is a string where a number is expected. The schema's own issues show which values to coerce. */
function coerceInterpolated(data: unknown, isInterpolated: (path: FaultPath) => boolean): unknown {
  const firstParse = configurationFile.safeParse(data);
  if (firstParse.success) return data;
  const copy: unknown = structuredClone(data);
  for (const issue of firstParse.error.issues) {
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

/** Hides values that came from environment variables, which messages about ids and models would repeat. */
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

/** Schema and cross-check may both report a missing value: only the first fault per path is kept. */
function distinct(faults: readonly SchemaFault[]): readonly SchemaFault[] {
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const pathText = formatPath(fault.path);
    return !seen.has(pathText) && seen.add(pathText);
  });
}

function resolveConfiguration(parsed: ParsedConfiguration, context: ParseContext): Configuration {
  const listeners = listenersOf(parsed.server, context.overrides);
  const dataDir = resolve(context.directory, parsed.storage.dataDir);
  return {
    ...parsed,
    server: {
      ...listeners,
      nat64: parsed.server.nat64,
      publicUrl: parsed.server.publicUrl ?? `http://${reachableHost(listeners.host)}:${listeners.port}`,
    },
    storage: {
      ...parsed.storage,
      dataDir,
      migrateUrl: parsed.storage.migrateUrl ?? parsed.storage.databaseUrl,
    },
    models: {
      ...parsed.models,
      dir: parsed.models.dir === null ? join(dataDir, MODELS_FOLDER) : resolve(context.directory, parsed.models.dir),
    },
    notes: context.notes,
    bootstrap: null,
  };
}
