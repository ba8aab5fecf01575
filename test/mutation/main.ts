// `npm run mutation -- guard|router|idempotency|leases|ledger|jobs|signatures [--n N] [--seed S] [--file text] [--workers 1]`:
// breaks the code in one place at a time and counts how often its tests notice. Survivors are printed; each is a missing test,
// or changes nothing and is in `same.ts` with its reason.
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { seeded } from "../faults/seeded.ts";
import { startPostgresServer } from "../harness/postgres/postgres-server.ts";
import { DOES_NOT_COME } from "../outbound/soon.ts";
import { mutantsOf } from "./changes.ts";
import { type Trial, type Tried, tryAll } from "./pool.ts";
import { sameness } from "./same.ts";
import { type Subject, SUBJECTS } from "./subjects.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    n: { type: "string" },
    seed: { type: "string", default: "1" },
    file: { type: "string", default: "" },
    workers: { type: "string", default: "2" },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(SUBJECTS, name));
if (unknown.length > 0) {
  console.error(`there is no ${unknown.join(", ")}; there is ${Object.keys(SUBJECTS).join(", ")}`);
  process.exit(2);
}
// An interrupt ends what was started on the way out.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const random = seeded(Number(values.seed));
const server = await startPostgresServer({ commits: "lost" });
Object.assign(process.env, { DATABASE_URL: server.url });
try {
  for (const name of positionals.length === 0 ? Object.keys(SUBJECTS) : positionals)
    await run(
      name,
      (SUBJECTS[name] ?? []).filter(({ file }) => file.includes(values.file)),
    );
} finally {
  await server.stop();
}

async function run(name: string, subjects: readonly Subject[]): Promise<void> {
  const startedMs = performance.now();
  const sources = new Map<string, string>();
  const all: Trial[] = [];
  let same = 0;
  for (const subject of subjects) {
    const source = await readFile(subject.file, "utf8");
    sources.set(subject.file, source);
    for (const mutant of mutantsOf(source, subject.besides ?? [])) {
      const why = sameness(subject.file, mutant);
      if (why === null) {
        all.push({ subject, mutant });
        continue;
      }
      same += 1;
      console.log(`skipped   ${subject.file}:${mutant.line} ${why}\n          + ${mutant.after}`);
    }
  }
  const chosen = values.n === undefined ? all : sample(all, Number(values.n));
  const tried: Tried[] = [];
  for (const [file, source] of sources) {
    const of = await tryAll(
      chosen.filter(({ subject }) => subject.file === file),
      source,
      Number(values.workers),
    );
    report(file, of);
    tried.push(...of);
  }
  const { killed, count, share } = score(tried);
  const endless = tried.filter(({ answer }) => answer.verdict === "endless").length;
  const late = tried.filter(({ answer }) => answer.error?.includes(DOES_NOT_COME) === true).length;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  const out = values.n === undefined ? "" : `, out of ${all.length}, seed ${values.seed}`;
  console.log(
    `mutation ${name}: ${killed} of ${count} killed, ${share} %${bound(killed, count)}, ${endless} of them without end, ` +
      `${late} because what a test waited for did not come${out}; ` +
      `${same} that change nothing skipped; ${seconds} s\n`,
  );
}

function report(file: string, tried: readonly Tried[]): void {
  for (const { mutant, answer } of tried.toSorted((one, other) => one.mutant.line - other.mutant.line)) {
    const { line, before, after } = mutant;
    if (answer.verdict === "survived")
      console.log(`survived  ${file}:${line}\n          - ${before}\n          + ${after}`);
    if (answer.verdict === "endless") console.log(`endless   ${file}:${line} ${answer.error}\n          + ${after}`);
  }
  const { killed, count, share } = score(tried);
  console.log(`${file}: ${killed} of ${count} killed, ${share} %`);
}

/** What is no program proves nothing of its tests. */
function score(tried: readonly Tried[]) {
  const count = tried.filter(({ answer }) => answer.verdict !== "no program").length;
  const killed = count - tried.filter(({ answer }) => answer.verdict === "survived").length;
  return { killed, count, share: ((100 * killed) / Math.max(1, count)).toFixed(1) };
}

/** Of a sample: with 95 % certainty (Wilson, one side) at least so many of all. */
function bound(killed: number, count: number): string {
  if (values.n === undefined || count === 0) return "";
  const z = 1.645;
  const p = killed / count;
  const low =
    (p + z ** 2 / (2 * count) - z * Math.sqrt((p * (1 - p)) / count + z ** 2 / (4 * count ** 2))) /
    (1 + z ** 2 / count);
  return ` (at least ${(100 * low).toFixed(1)} % with 95 %)`;
}

function sample<T>(items: readonly T[], count: number): readonly T[] {
  const rest = [...items];
  const chosen: T[] = [];
  while (chosen.length < count && rest.length > 0) chosen.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return chosen;
}
