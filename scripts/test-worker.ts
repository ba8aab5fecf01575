// One of the processes that share the test files of a run (scripts/test.ts). Each file is a suite; most of the modules it needs are
// loaded already, the browser has been started, and a database has been created. What a file does to the environment is undone after it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe } from "node:test";
import { pathToFileURL } from "node:url";
import { endBrowser, keepBrowser } from "../test/harness/browser.ts";
import { endIdleCopies, keepCopies } from "../test/harness/server-databases.ts";

/** What a file of tests took. */
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
// A test may wait for nothing but a timer that holds up no process.
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
}
await endIdleCopies();
await endBrowser();
clearInterval(stay);
// Not by itself a reason to stay: whatever else stays is something that a test forgot to close.
setTimeout(() => {
  console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(", ")}`);
  process.exit(1);
}, LONGEST_END_MS).unref();

/** Of those that have ended and were waited for. Node does not tell it; Linux does, in hundredths of a second. */
function childrenCpuSeconds(): number {
  if (!existsSync(STAT)) return 0;
  // The second field is a name in parentheses; these are the 16th and the 17th.
  const fields = readFileSync(STAT, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Only one process succeeds. */
function claim(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}
