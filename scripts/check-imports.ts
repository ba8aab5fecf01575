// Checks src against `import-table.ts`.
import { readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { FOLDERS, type Restriction, RESTRICTIONS, TEXT_RULES } from "./import-table.ts";
import { readImports, type SourceImport } from "./source-imports.ts";

const problems: string[] = [];
for (const [path, imports] of readImports()) {
  const file = path.slice("src/".length);
  const folder = folderOf(file);
  for (const each of imports) {
    if (!mayImport(folder, each.target)) problems.push(`${path}: src/${folder} may not import ${each.target}`);
    for (const restriction of RESTRICTIONS)
      if (isRestricted(each, restriction) && !isAmong(file, restriction.only))
        problems.push(`${path}: imports ${each.target}, which ${restriction.what}`);
    if (folder === "client" && !each.isTypeOnly && !each.target.startsWith("src/client/"))
      problems.push(`${path}: loads ${each.target}, which a browser would have to load too`);
  }
  const code = readFileSync(path, "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gmu, "");
  for (const { what, text, only } of TEXT_RULES)
    if (text.test(code) && !isAmong(file, only)) problems.push(`${path}: ${what}`);
}

for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "imports: every file keeps to the table" : `imports: ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function mayImport(folder: string, target: string): boolean {
  const allowed = FOLDERS[folder];
  if (allowed === undefined) return false;
  if (/^[\w@]/u.test(target) && !/^(src|sandbox|test|bench|scripts)\//u.test(target)) return true;
  if (allowed === "*") return true;
  return target.startsWith("src/") && isAmong(target.slice("src/".length), [folder, ...allowed]);
}

function isRestricted(
  { target, names, isTypeOnly, isDynamic }: SourceImport,
  { targets, names: restricted, allowsDynamic }: Restriction,
): boolean {
  if (isTypeOnly || (isDynamic && allowsDynamic === true)) return false;
  if (!targets.some((pattern) => matchesGlob(target, pattern))) return false;
  return restricted === undefined || names.some((name) => name === "*" || restricted.includes(name));
}

/** Whether a path matches one of the patterns or is below one. */
function isAmong(file: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesGlob(file, pattern) || matchesGlob(file, `${pattern}/**`));
}

function folderOf(file: string): string {
  return file.split("/")[0] ?? "";
}
