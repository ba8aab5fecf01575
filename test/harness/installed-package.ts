// Simulates the installed package in a test's folder, with the sources instead of built files.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = join(import.meta.dirname, "../..");

export function installPackage(folder: string): void {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  };
  const installed = join(folder, "node_modules/patchbay-gateway");
  mkdirSync(installed, { recursive: true });
  const names = Object.entries(exports).flatMap(([name, { default: built }]) => {
    if (built === undefined) return [];
    const source = join(ROOT, built.replace("./dist/", "").replace(/\.js$/u, ".ts"));
    writeFileSync(join(installed, `${name}.mjs`), `export * from "${pathToFileURL(source).href}";\n`);
    return [[name, `${name}.mjs`] as const];
  });
  const description = { name: "patchbay-gateway", type: "module", exports: Object.fromEntries(names) };
  writeFileSync(join(installed, "package.json"), JSON.stringify(description));
}
