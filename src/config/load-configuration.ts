// Loads every setting from `--config FILE`, PATCHBAY_CONFIG or ./patchbay.yaml, otherwise from the environment alone [configuration.search-order]. All faults
// are reported together, before anything listens.
import { readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import type { Configuration } from "./configuration.ts";
import { bootstrapOf, defaultFile, type LocalSpeech, NO_LOCAL_SPEECH } from "./default-configuration.ts";
import { withEnvironment } from "./environment-settings.ts";
import { compareFaults, type Fault, formatPath } from "./fault.ts";
import { findFile, type Search } from "./find-file.ts";
import { interpolate } from "./interpolate.ts";
import type { ListenerOverrides } from "./listeners.ts";
import { type ParseContext, parseConfiguration } from "./parse-configuration.ts";
import { map } from "./raw-data.ts";
import { readYaml, toPlainData, type YamlFile } from "./read-yaml.ts";
import type { SchemaFault } from "./schema-faults.ts";

export interface LoadOptions extends Search {
  readonly overrides?: ListenerOverrides;
  /** For warnings of models that end. Default: now. */
  readonly nowMs?: number;
  /** Reads which models are on this machine, in `models.dir`. Absent: derived routes contain none. */
  readonly readLocalSpeech?: (modelsDir: string) => LocalSpeech;
}

export type LoadResult =
  | {
      readonly ok: true;
      readonly configuration: Configuration;
      readonly file: string | null;
      readonly warnings: readonly Fault[];
    }
  | { readonly ok: false; readonly faults: readonly Fault[] };

const MAX_FILE_BYTES = 4_194_304;

export function loadConfiguration(options: LoadOptions): LoadResult {
  const file = findFile(options);
  return file === null ? loadDefault(options) : loadFile(file, options);
}

function loadFile(path: string, options: LoadOptions): LoadResult {
  const file = displayName(path, options.cwd);
  const directory = directoryOf(path, options.cwd);
  const text = readText(path);
  if (!text.ok) return { ok: false, faults: [{ file, line: 1, column: 1, path: "", message: text.message }] };
  const yaml = readYaml(text.text);
  const syntax: Fault[] = yaml.faults.map((fault) => ({
    file,
    ...fault.position,
    path: formatPath(fault.path),
    message: fault.message,
  }));
  if (!yaml.isUsable) return { ok: false, faults: syntax.toSorted(compareFaults) };

  const interpolation = interpolate(yaml.document, { env: options.env, directory });
  const locateInFile = (fault: SchemaFault) => locateFault(file, yaml, fault);
  const plain = toPlainData(yaml.document);
  if (plain === null)
    return {
      ok: false,
      faults: [{ file, line: 1, column: 1, path: "", message: "the aliases of this file expand beyond the limit" }],
    };
  const { data, origins } = withEnvironment(plain.data ?? {}, options.env);
  const context: ParseContext = {
    overrides: options.overrides ?? {},
    directory,
    interpolatedPaths: new Set([...interpolation.interpolatedPaths, ...origins.keys()]),
    notes: [],
    nowMs: options.nowMs ?? Date.now(),
  };
  const parsed = parseConfiguration(data, context);
  // A value with a missing variable is empty now, so the schema's complaint about it would be a duplicate.
  const missingPaths = interpolation.faults.map((fault) => formatPath(fault.path));
  const dependsOnMissing = (path: string) => missingPaths.some((each) => each === path || each.startsWith(`${path}[`));
  const locateOrigin = (fault: SchemaFault) => atOrigin(fault, origins) ?? locateInFile(fault);
  const relevantFaults = parsed.faults.filter((fault) => !dependsOnMissing(formatPath(fault.path)));
  const faults = [...syntax, ...interpolation.faults.map(locateInFile), ...relevantFaults.map(locateOrigin)].toSorted(
    compareFaults,
  );
  if (faults.length > 0 || parsed.configuration === null) return { ok: false, faults };
  return {
    ok: true,
    configuration: { ...parsed.configuration, bootstrap: parseBootstrap(data, options, parsed.configuration, context) },
    file: path,
    warnings: parsed.warnings.map(locateInFile).toSorted(compareFaults),
  };
}

/** A file that a shell passes (`<(...)`, /dev/stdin) is in no useful base directory. */
function directoryOf(path: string, cwd: string): string {
  return /^\/(?:dev|proc)\//.test(path) ? cwd : dirname(path);
}

/** The workspace and app have no keys yet. The start creates them. */
function loadDefault(options: LoadOptions): LoadResult {
  const loaded = parseDefault(options, NO_LOCAL_SPEECH);
  if (!loaded.ok || options.readLocalSpeech === undefined) return loaded;
  // The directory of the models is a setting, so it is known only now.
  return parseDefault(options, options.readLocalSpeech(loaded.configuration.models.dir));
}

function parseDefault(options: LoadOptions, local: LocalSpeech): LoadResult {
  const { data, notes, origins } = defaultFile(options.env, local);
  const parsed = parseConfiguration(data, {
    overrides: options.overrides ?? {},
    directory: options.cwd,
    interpolatedPaths: new Set(origins.keys()),
    notes,
    nowMs: options.nowMs ?? Date.now(),
  });
  if (parsed.configuration !== null) return { ok: true, configuration: parsed.configuration, file: null, warnings: [] };
  const faults = parsed.faults.map(
    (fault) => atOrigin(fault, origins) ?? inEnvironment(formatPath(fault.path), fault.message),
  );
  return { ok: false, faults };
}

/** Null: there is no bootstrap, or it would be invalid because of faults that the file's own report explains. */
function parseBootstrap(
  data: unknown,
  { env, readLocalSpeech }: LoadOptions,
  { models }: Pick<Configuration, "models">,
  context: ParseContext,
): Configuration["bootstrap"] {
  const bootstrap = bootstrapOf(data, env, readLocalSpeech?.(models.dir) ?? NO_LOCAL_SPEECH);
  if (bootstrap === null) return null;
  const { configuration } = parseConfiguration({ ...map(data), ...bootstrap.data }, context);
  if (configuration === null) return null;
  const { connections, routes, workspaces } = configuration;
  return { connections, routes, workspaces, notes: bootstrap.notes };
}

/** Reports the fault of a value at the variable that it came from. Null: it came from none. */
function atOrigin(fault: SchemaFault, origins: ReadonlyMap<string, string>): Fault | null {
  const path = formatPath(fault.path);
  const variable = [...origins].find(([prefix]) => path.startsWith(prefix))?.[1];
  return variable === undefined ? null : inEnvironment(variable, fault.message);
}

function inEnvironment(path: string, message: string): Fault {
  return { file: "environment", line: 1, column: 1, path, message };
}

function locateFault(file: string, yaml: YamlFile, fault: SchemaFault): Fault {
  const position = fault.key === undefined ? yaml.locate(fault.path) : yaml.locate(fault.path.slice(0, -1), fault.key);
  const suggestion = fault.suggestion === undefined ? {} : { suggestion: fault.suggestion };
  return { file, ...position, path: formatPath(fault.path), message: fault.message, ...suggestion };
}

type ReadResult = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

function readText(path: string): ReadResult {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_FILE_BYTES) return { ok: false, message: `the file is larger than ${MAX_FILE_BYTES} bytes` };
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return { ok: false, message: "the file is not UTF-8 text" };
    return {
      ok: false,
      message: code === "ENOENT" ? "the file does not exist" : `the file cannot be read (${code ?? "unknown reason"})`,
    };
  }
}

/** The file's name as the operator would write it. */
function displayName(path: string, cwd: string): string {
  const relativePath = relative(cwd, path);
  return relativePath.startsWith("..") || relativePath === "" ? path : relativePath;
}
