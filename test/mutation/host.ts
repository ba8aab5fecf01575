// A process that runs the tests of one file against one mutant of it after another (main.ts starts it). Only the modules that
// depend on what is broken are reloaded each time; databases and everything else stay.
import { globSync, readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Collected, Endless, runTest, takeCollected, within } from "./stand-in.ts";

/** What the process is asked: the tests of `file` as it now is on disk, those named in `first` before the others. */
export interface Ask {
  readonly file: string;
  readonly tests: readonly string[];
  readonly first: readonly string[];
}

export type Verdict = "killed" | "endless" | "survived" | "no program";

export interface Answer {
  readonly verdict: Verdict;
  /** The test that noticed, as its file and its name. */
  readonly by: string | null;
  readonly error: string | null;
}

const root = process.cwd();
const standIn = pathToFileURL(join(import.meta.dirname, "stand-in.ts")).href;
const stripped = new Map<string, string>();
const usualMs = new Map<string, number>();
let round = 0;
let broken = "";
let reloaded: ReadonlySet<string> = new Set();

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === "node:test" && context.parentURL?.startsWith(pathToFileURL(join(root, "test")).href) === true)
      return { url: standIn, shortCircuit: true };
    const resolved = next(specifier, context);
    if (!resolved.url.startsWith("file:") || !reloaded.has(fileURLToPath(resolved.url))) return resolved;
    return { ...resolved, url: `${resolved.url}?round=${round}`, shortCircuit: true };
  },
  load: (url, context, next) => {
    const path = url.includes("?round=") ? fileURLToPath(url) : "";
    if (path === "" || path === broken) return next(url, context);
    const source = stripped.get(path) ?? stripTypeScriptTypes(readFileSync(path, "utf8"));
    stripped.set(path, source);
    return { format: "module", source, shortCircuit: true };
  },
});

const databases: unknown = await import(pathToFileURL(join(root, "test/harness/postgres/server-databases.ts")).href);
if (isKeeper(databases)) databases.keepCopies();
process.on("message", (ask: Ask) => {
  // What keeps this process alive from here on is the test's own.
  process.channel?.unref();
  void tell(ask);
});
process.send?.("ready");

async function tell(ask: Ask): Promise<void> {
  const outcome = await answer(ask);
  process.channel?.ref();
  process.send?.(outcome);
}

async function answer({ file, tests, first }: Ask): Promise<Answer> {
  round += 1;
  if (broken !== join(root, file)) {
    broken = join(root, file);
    reloaded = new Set([...dependantsOf(broken), ...tests.map((path) => join(root, path))]);
  }
  const environment = { ...process.env };
  const rank = (key: string) => (first.includes(key) ? first.indexOf(key) : first.length);
  const rankOf = (path: string) => Math.min(first.length, ...first.filter((key) => key.startsWith(path)).map(rank));
  try {
    for (const path of tests.toSorted((one, other) => rankOf(one) - rankOf(other))) {
      const outcome = await runFile(path, rank);
      if (outcome !== null) return outcome;
    }
    return { verdict: "survived", by: null, error: null };
  } finally {
    for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
    Object.assign(process.env, environment);
  }
}

async function runFile(path: string, rank: (key: string) => number): Promise<Answer | null> {
  const usual = (key: string) => usualMs.get(key) ?? 5_000;
  try {
    await within(() => import(pathToFileURL(join(root, path)).href), usual(path));
  } catch (error) {
    takeCollected();
    return isNoProgram(error) ? { verdict: "no program", by: null, error: String(error) } : noticed(path, error);
  }
  const suite = takeCollected();
  const keyed = suite.tests.map((each, index) => ({ ...each, key: `${path}: ${index} ${each.name}` }));
  let outcome: Answer | null = null;
  let doing = path;
  try {
    for (const hook of suite.before) await within(hook, usual(path));
    for (const each of keyed.toSorted((one, other) => rank(one.key) - rank(other.key))) {
      doing = each.key;
      const startedMs = performance.now();
      await runTest(suite, each, usual(each.key));
      usualMs.set(each.key, performance.now() - startedMs);
    }
    doing = path;
  } catch (error) {
    outcome = noticed(doing, error);
  }
  const ended = await end(suite, path);
  return outcome ?? ended;
}

/** Hooks that fail in a file whose tests did not are a failure of it. */
async function end(suite: Collected, path: string): Promise<Answer | null> {
  try {
    for (const hook of suite.after) await within(hook, 5_000);
    return null;
  } catch (error) {
    return noticed(path, error);
  }
}

function noticed(by: string, error: unknown): Answer {
  return { verdict: error instanceof Endless ? "endless" : "killed", by, error: String(error).slice(0, 2_000) };
}

function isNoProgram(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    (error instanceof Error && "code" in error && error.code === "ERR_INVALID_TYPESCRIPT_SYNTAX")
  );
}

/** Every file here that imports it, or one that does. Types alone are no import. */
function dependantsOf(path: string): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const name of globSync("{src,test,sandbox}/**/*.ts", { cwd: root })) {
    const from = join(root, name);
    const code = readFileSync(from, "utf8").replace(/^(?:import|export) type [^;]*;/gm, "");
    for (const [, specifier = ""] of code.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const to = join(from, "..", specifier);
      importers.set(to, [...(importers.get(to) ?? []), from]);
    }
  }
  const found = new Set<string>();
  const add = (each: string): void => {
    if (found.has(each)) return;
    found.add(each);
    for (const importer of importers.get(each) ?? []) add(importer);
  };
  add(path);
  return found;
}

function isKeeper(value: unknown): value is { readonly keepCopies: () => void } {
  return typeof value === "object" && value !== null && "keepCopies" in value;
}
