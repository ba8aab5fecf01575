// Parses YAML into plain data with a position for every value [configuration.plain-yaml]: syntax faults, duplicate keys, bounded aliases, no tags.
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import type { FaultPath } from "./fault.ts";

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlFault {
  readonly path: FaultPath;
  readonly position: Position;
  readonly message: string;
}

export interface YamlFile {
  readonly document: Document;
  readonly faults: readonly YamlFault[];
  /** Whether the data can be validated despite the faults. */
  readonly isUsable: boolean;
  /** Position of the value at a path, or of its nearest existing parent. With `key`: of the key itself. */
  readonly locate: (path: FaultPath, key?: string) => Position;
}

const MAX_ALIASES = 100;

export function readYaml(text: string): YamlFile {
  const lineCounter = new LineCounter();
  // The `core` schema reads no dates, no `yes` and no merge keys: anything but numbers, true, false and null is text.
  const document: Document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    schema: "core",
    uniqueKeys: false,
    stringKeys: false,
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const lines = text.split("\n");
  const syntax = dropConsequences([...document.errors, ...document.warnings]).map((error) => {
    const position = positionAt(error.pos[0]);
    return { path: [], position, message: describe(error, lines[position.line - 1] ?? "") };
  });
  const structure = document.errors.length > 0 ? [] : structureFaults(document, positionAt);
  return {
    document,
    faults: distinct([...syntax, ...structure]),
    isUsable: syntax.length === 0 && structure.every((fault) => fault.isHarmless),
    locate: (path, key) => positionAt(offsetOf(document, path, key)),
  };
}

/** Returns the document as plain data, if it is usable. Null: its aliases expand beyond the limit. */
export function toPlainData(document: Document): { readonly data: unknown } | null {
  try {
    return { data: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

/** Removes duplicates, because one broken line makes the parser complain several times. */
function distinct(faults: readonly YamlFault[]): readonly YamlFault[] {
  const seen = new Set<string>();
  return faults.filter(({ position, message }) => {
    const text = `${position.line}:${position.column} ${message}`;
    return !seen.has(text) && seen.add(text);
  });
}

/** Drops the errors that follow the first unexpected token, because they are its consequence. */
function dropConsequences(errors: readonly YAMLError[]): readonly YAMLError[] {
  const first = errors.findIndex((error) => error.code === "UNEXPECTED_TOKEN");
  return first < 0 ? errors : errors.slice(0, first + 1);
}

/** Replaces the library's messages, which quote the source and could show a secret. */
function describe(error: YAMLError, line: string): string {
  // In `{ port: ${env:PORT} }` the map ends at the first closing brace.
  if (/[{[,].*[^"']\$\{/.test(line)) return "this is not YAML; inside `{ }` and `[ ]` a value with `${…}` needs quotes";
  return MESSAGES[error.code] ?? `this is not YAML (${error.code.toLowerCase().replaceAll("_", " ")})`;
}

const MESSAGES: { readonly [C in YAMLError["code"]]?: string } = {
  BAD_INDENT: "the indentation does not fit the lines before it, or a `{` or `[` above is not closed",
  TAB_AS_INDENT: "a tab is used for indentation; use blanks",
  MISSING_CHAR: "something is not closed here: a quote, a bracket, a brace, or a blank is missing after `:` or `,`",
  TAG_RESOLVE_FAILED: "tags are not supported here",
  MULTIPLE_DOCS: "the file holds more than one document (`---`)",
  BAD_DQ_ESCAPE: "this escape is not known in double quotes; use single quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "a key and its value cannot be separated here; is a space after `:` missing, or the value in need of quotes?",
  MULTILINE_IMPLICIT_KEY:
    "a key and its value cannot be separated here; is a space after `:` missing, or the value in need of quotes?",
};

function structureFaults(document: Document, positionAt: (offset: number) => Position) {
  const faults: (YamlFault & { isHarmless: boolean })[] = [];
  const add = (path: FaultPath, offset: number, message: string, isHarmless = false) =>
    faults.push({ path, position: positionAt(offset), message, isHarmless });
  let aliases = 0;
  visit(document, {
    Node(_key, node, ancestors) {
      const path = pathOf([...ancestors, node]);
      if (!isAlias(node) && node.tag !== undefined && !isPlainTag(node.tag))
        add(path, startOf(node), "tags are not supported here");
    },
    Alias(_key, node, ancestors) {
      aliases += 1;
      if (aliases === MAX_ALIASES + 1) add([], startOf(node), `more than ${MAX_ALIASES} aliases`);
      const anchor = node.resolve(document);
      if (anchor === undefined) add([], startOf(node), "this alias names no anchor before it");
      else if (ancestors.includes(anchor)) add([], startOf(node), "this alias is inside the value that it names");
    },
    Map(_key, node, ancestors) {
      const seen = new Set<string>();
      for (const { key } of node.items) {
        const offset = startOf(key);
        const path = pathOf([...ancestors, node]);
        if (!isScalar(key)) add(path, offset, "a key must be a plain word");
        else if (key.value === "__proto__") add(path, offset, "`__proto__` cannot be a key");
        else if (seen.has(String(key.value)))
          add([...path, String(key.value)], offset, "this key occurs twice in the same map", true);
        else seen.add(String(key.value));
      }
    },
  });
  return faults;
}

function isPlainTag(tag: string): boolean {
  return /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/.test(tag);
}

/** Returns the keys and indexes that lead through these nested nodes. */
export function pathOf(nodes: readonly unknown[]): FaultPath {
  const path: (string | number)[] = [];
  nodes.forEach((node, depth) => {
    const next = nodes[depth + 1];
    if (isSeq(node)) {
      const index = node.items.indexOf(next);
      if (index >= 0) path.push(index);
    } else if (isPair(node) && isScalar(node.key) && next !== undefined && next !== node.key)
      path.push(String(node.key.value));
  });
  return path;
}

function offsetOf(document: Document, path: FaultPath, key: string | undefined): number {
  let node: unknown = document.contents;
  for (const step of path) {
    const next = child(document, node, step);
    if (next === undefined) return startOf(node);
    node = next;
  }
  if (key === undefined) return startOf(node);
  const map = dereference(document, node);
  const pair = isMap(map) ? map.items.find((item) => isScalar(item.key) && String(item.key.value) === key) : undefined;
  return startOf(pair?.key ?? node);
}

function child(document: Document, node: unknown, step: string | number): unknown {
  const parent = dereference(document, node);
  if (isSeq(parent)) return typeof step === "number" ? parent.items[step] : undefined;
  if (!isMap(parent)) return undefined;
  const pair = parent.items.findLast((item) => isScalar(item.key) && String(item.key.value) === String(step));
  return pair === undefined ? undefined : (pair.value ?? pair.key);
}

function dereference(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function startOf(node: unknown): number {
  return (node as Partial<Node> | null | undefined)?.range?.[0] ?? 0;
}
