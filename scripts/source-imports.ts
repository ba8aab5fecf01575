// Reads the imports of all files in src, for the checks of imports and of cycles.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface SourceImport {
  /** A path such as `src/lib/clock.ts`, or a module such as `node:net`. */
  readonly target: string;
  /** Names as exported there. `*` for a namespace or a dynamic import. */
  readonly names: readonly string[];
  readonly isTypeOnly: boolean;
  /** Loaded when its code runs, not with the file. */
  readonly isDynamic: boolean;
}

const STATIC = /^(?:import|export) (type )?(?:(\{[^}]*\}|\*[^"]*?|\w+) from )?"([^"]+)"/gmu;
const DYNAMIC = /\bimport\(\s*"([^"]+)"/gu;

/** By file, as paths from the repository's root with forward slashes. */
export function readImports(): ReadonlyMap<string, readonly SourceImport[]> {
  const files = globSync("src/**/*.ts").map((path) => path.replaceAll("\\", "/"));
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(file, "utf8"))]));
}

function importsOf(file: string, text: string): readonly SourceImport[] {
  const statics = [...text.matchAll(STATIC)].map(([, type, clause = "*", specifier = ""]) => {
    const names = namesIn(clause);
    return {
      target: resolve(file, specifier),
      names: names.map((name) => name.replace(/^type /u, "")),
      isTypeOnly: type !== undefined || (names.length > 0 && names.every((name) => name.startsWith("type "))),
      isDynamic: false,
    };
  });
  const dynamics = [...text.matchAll(DYNAMIC)].map(([, specifier = ""]) => ({
    target: resolve(file, specifier),
    names: ["*"],
    isTypeOnly: false,
    isDynamic: true,
  }));
  return [...statics, ...dynamics];
}

function namesIn(clause: string): readonly string[] {
  if (!clause.startsWith("{")) return ["*"];
  return clause
    .slice(1, -1)
    .split(",")
    .map((name) => name.trim().replace(/ as \w+$/u, ""))
    .filter((name) => name !== "");
}

function resolve(file: string, specifier: string): string {
  return specifier.startsWith(".") ? normalize(join(dirname(file), specifier)).replaceAll("\\", "/") : specifier;
}
