// Interpolates `${env:NAME}`, `${env:NAME:-default}` and `${file:PATH}` in values, with `$${` as the escape of `${` [configuration.interpolation]. An
// inserted value is not interpolated again, so a variable cannot reference another one [configuration.interpolation-once].
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type Document, isScalar, visit } from "yaml";
import { errorCode } from "../lib/error-code.ts";
import { type FaultPath, formatPath } from "./fault.ts";
import { pathOf } from "./read-yaml.ts";

export interface InterpolationSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Base directory of `${file:PATH}`. */
  readonly directory: string;
}

export interface Interpolation {
  readonly faults: readonly { readonly path: FaultPath; readonly message: string }[];
  /** Formatted paths of values that contain something from outside the file. */
  readonly interpolatedPaths: ReadonlySet<string>;
}

const MAX_FILE_BYTES = 65_536;
const REFERENCE = /\$\$\{|\$\{([^}]*)\}|\$\{/g;

/** Changes the document's scalars in place, which keeps their positions. */
export function interpolate(document: Document, sources: InterpolationSources): Interpolation {
  const faults: { path: FaultPath; message: string }[] = [];
  const interpolatedPaths = new Set<string>();
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === "key" || !isScalar(node) || typeof node.value !== "string" || !node.value.includes("${")) return;
      const path = pathOf([...ancestors, node]);
      const result = interpolateText(node.value, sources);
      node.value = result.text;
      if (result.hasReference) interpolatedPaths.add(formatPath(path));
      faults.push(...result.messages.map((message) => ({ path, message })));
    },
  });
  return { faults, interpolatedPaths };
}

function interpolateText(source: string, sources: InterpolationSources) {
  const messages: string[] = [];
  let hasReference = false;
  const text = source.replaceAll(REFERENCE, (match, reference: string | undefined) => {
    if (match === "$${") return "${";
    hasReference = true;
    const resolved =
      reference === undefined
        ? { ok: false as const, message: "`${` is not closed by `}`; write `$${` for the characters themselves" }
        : resolveReference(reference, sources);
    if (resolved.ok) return resolved.text;
    messages.push(resolved.message);
    return "";
  });
  return { text, hasReference, messages };
}

type Resolved = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

function resolveReference(reference: string, sources: InterpolationSources): Resolved {
  const variable = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(reference);
  if (variable !== null) return resolveVariable(variable[1] ?? "", variable[2], sources.env);
  const file = /^file:(.+)$/s.exec(reference);
  if (file !== null) return resolveFile(file[1] ?? "", sources.directory);
  return {
    ok: false,
    message:
      "expected `${env:NAME}`, `${env:NAME:-default}` or `${file:PATH}`; write `$${` for the characters themselves",
  };
}

/** An empty variable counts as not set, because process managers and compose files create empty ones. */
function resolveVariable(name: string, fallback: string | undefined, env: InterpolationSources["env"]): Resolved {
  const value = env[name];
  if (value !== undefined && value !== "") return { ok: true, text: value };
  if (fallback !== undefined) return { ok: true, text: fallback };
  return {
    ok: false,
    message: `the environment variable ${name} is not set; set it, or add a default: \${env:${name}:-…}`,
  };
}

function resolveFile(path: string, directory: string): Resolved {
  try {
    const filePath = resolve(directory, path);
    const stats = statSync(filePath);
    // A device or a pipe may be endless.
    if (!stats.isFile()) return { ok: false, message: `the file ${path} cannot be read (not a regular file)` };
    if (stats.size > MAX_FILE_BYTES)
      return { ok: false, message: `the file ${path} is larger than ${MAX_FILE_BYTES} bytes` };
    const bytes = readFileSync(filePath);
    // Editors end a file with a line break that is not part of the secret.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
    // Refused like an unset variable: a missing secret must not look like one that is left unset on purpose.
    return text.trim() === "" ? { ok: false, message: `the file ${path} is empty` } : { ok: true, text };
  } catch (error) {
    return { ok: false, message: `the file ${path} cannot be read (${reasonOf(error)})` };
  }
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === "ENOENT") return "the file does not exist";
  return code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "not UTF-8 text" : (code ?? "unknown reason");
}
