// `npm run mutation -- guard|router|idempotency|signatures [--n N] [--seed S] [--file text]`: breaks the code in one place at a
// time and counts how often its tests notice. Survivors are printed; each is a missing test or changes nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cpuMsOf } from "../../bench/cost.ts";
import { seeded } from "../faults/seeded.ts";
import { type Mutant, mutantsOf } from "./changes.ts";
import { type Subject, SUBJECTS } from "./subjects.ts";

const COPIED = ["src", "test", "docs", "sandbox", "package.json", "package-lock.json", "tsconfig.json", "scripts"];
const AT_ONCE = 2;
/** What goes round in circles is noticed by the work it does, what waits by doing none: a busy machine looks like neither. */
const MOST_CPU_MS = 30_000;
const LONGEST_IDLE_MS = 120_000;
/** What a process that waits uses all the same. */
const IDLE_CPU_MS = 250;
const LOOK_EVERY_MS = 1_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    n: { type: "string" },
    seed: { type: "string", default: "1" },
    file: { type: "string", default: "" },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(SUBJECTS, name));
if (unknown.length > 0) {
  console.error(`there is no ${unknown.join(", ")}; there is ${Object.keys(SUBJECTS).join(", ")}`);
  process.exit(2);
}
const random = seeded(Number(values.seed));
const roots = await Promise.all(Array.from({ length: AT_ONCE }, () => prepare()));
try {
  for (const name of positionals.length === 0 ? Object.keys(SUBJECTS) : positionals)
    await run(
      name,
      (SUBJECTS[name] ?? []).filter(({ file }) => file.includes(values.file)),
    );
} finally {
  await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
}

async function run(name: string, subjects: readonly Subject[]): Promise<void> {
  const all: { readonly subject: Subject; readonly mutant: Mutant }[] = [];
  const sources = new Map<string, string>();
  for (const subject of subjects) {
    const { file, tests, besides = [] } = subject;
    const source = await readFile(file, "utf8");
    sources.set(file, source);
    if ((await outcomeOf(roots[0] ?? "", tests)) !== "survived")
      throw new Error(`the tests of ${file} fail without any change`);
    all.push(...mutantsOf(source, besides).map((mutant) => ({ subject, mutant })));
  }
  const chosen = new Set(values.n === undefined ? all : sample(all, Number(values.n)));
  const waiting = [...chosen];
  const survivors: typeof all = [];
  let endless = 0;
  await Promise.all(
    roots.map(async (root) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { subject, mutant } = next;
        await writeFile(join(root, subject.file), mutant.text);
        const outcome = await outcomeOf(root, subject.tests);
        if (outcome === "survived") survivors.push(next);
        if (outcome === "endless") endless += 1;
        if (outcome === "no program") chosen.delete(next);
        await writeFile(join(root, subject.file), sources.get(subject.file) ?? "");
      }
    }),
  );
  for (const { subject, mutant } of survivors.toSorted((one, other) => one.mutant.line - other.mutant.line))
    console.log(`survived  ${subject.file}:${mutant.line}\n          - ${mutant.before}\n          + ${mutant.after}`);
  for (const { file } of subjects) {
    const of = (list: Iterable<(typeof all)[number]>) =>
      [...list].filter(({ subject }) => subject.file === file).length;
    console.log(`${file}: ${of(chosen) - of(survivors)} of ${of(chosen)} killed`);
  }
  const killed = chosen.size - survivors.length;
  const share = ((100 * killed) / Math.max(1, chosen.size)).toFixed(1);
  const out = values.n === undefined ? "" : `, out of ${all.length}, seed ${values.seed}`;
  console.log(
    `mutation ${name}: ${killed} of ${chosen.size} killed, ${share} %, ${endless} of them without end${out}\n`,
  );
}

function sample<T>(items: readonly T[], count: number): readonly T[] {
  const rest = [...items];
  const chosen: T[] = [];
  while (chosen.length < count && rest.length > 0) chosen.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return chosen;
}

async function prepare(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "patchbay-mutation-"));
  for (const name of COPIED)
    await cp(name, join(root, name), { recursive: true, filter: (path) => !path.includes("node_modules") });
  await symlink(resolve("node_modules"), join(root, "node_modules"));
  return root;
}

type Outcome = "killed" | "endless" | "survived" | "no program";

/** Killed when a test fails, or never ends; what is no program at all proves nothing of them. */
async function outcomeOf(root: string, tests: readonly string[]): Promise<Outcome> {
  const child = spawn(
    process.execPath,
    ["--liftoff-only", "--test", "--test-isolation=none", "--test-force-exit", "--test-reporter=tap", ...tests],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, PATCHBAY_FEWER_ADDRESSES: "20", NODE_COMPILE_CACHE: join(root, ".compiled") },
    },
  );
  let outcome: Outcome | null = null;
  const end = (what: Outcome): void => {
    outcome ??= what;
    child.kill("SIGKILL");
  };
  const timer = watchWork(child.pid ?? 0, () => end("endless"));
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => {
    told += chunk.toString();
    if (told.includes("ERR_INVALID_TYPESCRIPT_SYNTAX") || told.includes("SyntaxError: ")) end("no program");
    // One that fails is enough, and with it comes its error, which tells whether it is a program.
    else if (/^not ok [^]*^ {2}\.\.\.$/m.test(told)) end("killed");
  });
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(timer);
  return outcome ?? (code === 0 ? "survived" : "killed");
}

function watchWork(pid: number, onEndless: () => void): NodeJS.Timeout {
  let idleSince = { cpuMs: 0, atMs: performance.now() };
  return setInterval(() => {
    const cpuMs = cpuMsOf(pid);
    if (cpuMs > idleSince.cpuMs + IDLE_CPU_MS) idleSince = { cpuMs, atMs: performance.now() };
    if (cpuMs > MOST_CPU_MS || performance.now() - idleSince.atMs > LONGEST_IDLE_MS) onEndless();
  }, LOOK_EVERY_MS);
}
