// One of the processes that share the test files of a run (scripts/test.ts). Each file is a suite, with modules, the browser and a database already loaded.
// Changes of the environment are undone after each file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join, resolve } from "node:path";
import { describe } from "node:test";
import { pathToFileURL } from "node:url";
import { endBrowser, keepBrowser } from "../test/harness/browser.ts";
import { endIdleCopies, keepCopies } from "../test/harness/postgres/server-databases.ts";

/** Duration and resources of a test file. */
export interface Took {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly childrenCpuSeconds: number;
}

const STAT = "/proc/self/stat";
const LONGEST_END_MS = 30_000;

const queue = process.env["PATCHBAY_TEST_QUEUE"] ?? "";
const files = JSON.parse(readFileSync(join(queue, "files.json"), "utf8")) as readonly string[];

keepCopies();
keepBrowser();
// A test may wait only for a timer that does not keep the process alive.
const stay = setInterval(() => undefined, 2 ** 30);
for (const [index, file] of files.entries()) {
  if (!claim(join(queue, `${index}.taken`))) continue;
  const environment = { ...process.env };
  const before = process.cpuUsage();
  const childrenBefore = childrenCpuSeconds();
  const started = performance.now();
  await describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
  const { user, system } = process.cpuUsage(before);
  const took: Took = {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (user + system) / 1_000_000,
    childrenCpuSeconds: childrenCpuSeconds() - childrenBefore,
  };
  writeFileSync(join(queue, `${index}.done`), JSON.stringify(took));
  // So that other processes load what this one has compiled: Node.js alone writes it when a process ends.
  flushCompileCache();
}
await endIdleCopies();
await endBrowser();
clearInterval(stay);
// Unreferenced: anything else that keeps the process alive is something that a test did not close.
setTimeout(() => {
  console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(", ")}`);
  process.exit(1);
}, LONGEST_END_MS).unref();

/** CPU time of ended and awaited children. Node.js does not report it; Linux does, in hundredths of a second. */
function childrenCpuSeconds(): number {
  if (!existsSync(STAT)) return 0;
  // The second field is a name in parentheses; these are fields 16 and 17.
  const fields = readFileSync(STAT, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Atomic: only one process succeeds. */
function claim(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}
