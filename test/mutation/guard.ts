// `node test/mutation/guard.ts [file…]`: breaks the guard in one place at a time and counts how often its tests notice
// (reliability 4, promise R8: at least 90 %). Survivors are printed; each is a missing test or changes nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Which tests are to notice what: the quick ones first. */
const SUBJECTS: readonly (readonly [file: string, tests: readonly string[]])[] = [
  ["src/outbound/address.ts", ["test/outbound/address.test.ts", "test/outbound/guard.test.ts"]],
  ["src/outbound/target-policy.ts", ["test/outbound/guard.test.ts", "test/outbound/caller.test.ts"]],
  ["src/outbound/guard.ts", ["test/outbound/guard.test.ts", "test/outbound/caller.test.ts"]],
  ["src/outbound/system-network.ts", ["test/outbound/system-network.test.ts", "test/outbound/system-resolver.test.ts"]],
  ["src/audio/remote-reply.ts", ["test/audio/remote-reply.test.ts", "test/audio/remote-audio.test.ts"]],
  ["src/lib/host-name.ts", ["test/lib/host-name.test.ts"]],
];
const COPIED = ["src", "test", "sandbox", "package.json", "tsconfig.json", "scripts"];
const TIMEOUT_MS = 30_000;
const AT_ONCE = 2;

/** One change each; `$1` keeps what surrounds it. */
const CHANGES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/===/g, "!=="],
  [/!==/g, "==="],
  [/&&/g, "||"],
  [/\|\|/g, "&&"],
  [/\?\?/g, "&&"],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ < /g, " <= "],
  [/ > /g, " < "],
  [/ < /g, " > "],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
  [/\.some\(/g, ".every("],
  [/\.every\(/g, ".some("],
  [/([(\s])!([a-zA-Z(])/g, "$1$2"],
  [/\bthrow new (?=[A-Z])/g, "void new "],
  [/\bthrow /g, "void "],
  [/\breturn (?=[a-z])/g, "return !"],
  [/\bif \(/g, "if (false && "],
  [/\bif \(/g, "if (true || "],
  [/"[^"\n]*\/\d+"(?=[,\]])/g, '"255.255.255.255/32"'],
  [/(\W)(\d+)(?=[^\w."/])/g, "$1($2 + 1)"],
  [/\bawait /g, "void "],
];

interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
  readonly text: string;
}

function mutantsOf(file: string, source: string): readonly Mutant[] {
  const mutants: Mutant[] = [];
  const seen = new Set<string>();
  const lines = source.split("\n");
  let inComment = false;
  let inType = false;
  for (const [index, line] of lines.entries()) {
    const bare = line.trim();
    inComment = inComment ? !bare.includes("*/") : bare.startsWith("/*") && !bare.includes("*/");
    if (/^(export )?(interface|type) /.test(bare)) inType = !/[;}]$/.test(bare);
    else if (inType && /^(\}|\s*\| .*;$)/.test(line)) inType = false;
    else if (!inComment && !inType && !/^(\/\/|\/?\*|import |export \{|readonly )/.test(bare)) {
      const code = line.replace(/\s\/\/ .*$/, "");
      for (const [pattern, replacement] of CHANGES) {
        for (const match of code.matchAll(pattern)) {
          const changed = match[0].replace(new RegExp(pattern.source), replacement);
          const after = `${code.slice(0, match.index)}${changed}${code.slice(match.index + match[0].length)}`;
          if (after === line || seen.has(`${index}:${after}`)) continue;
          seen.add(`${index}:${after}`);
          const text = lines.toSpliced(index, 1, after).join("\n");
          mutants.push({ file, line: index + 1, before: bare, after: after.trim(), text });
        }
      }
    }
  }
  return mutants;
}

async function prepare(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "patchbay-mutation-"));
  for (const name of COPIED)
    await cp(name, join(root, name), { recursive: true, filter: (path) => !path.includes("node_modules") });
  await symlink(resolve("node_modules"), join(root, "node_modules"));
  return root;
}

/** True when the tests fail, or never end. */
async function isKilled(root: string, tests: readonly string[]): Promise<boolean> {
  for (const test of tests) {
    const child = spawn(process.execPath, ["--test", "--test-force-exit", `--test-timeout=${TIMEOUT_MS}`, test], {
      cwd: root,
      stdio: "ignore",
      env: { ...process.env, PATCHBAY_FEWER_ADDRESSES: "20" },
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS * 2);
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(timer);
    if (code !== 0) return true;
  }
  return false;
}

const wanted = process.argv.slice(2);
const roots = await Promise.all(Array.from({ length: AT_ONCE }, () => prepare()));
let total = 0;
let killed = 0;
try {
  for (const [file, tests] of SUBJECTS) {
    if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
    const source = await readFile(file, "utf8");
    const [first = ""] = roots;
    if (await isKilled(first, tests)) throw new Error(`the tests of ${file} fail without any change`);
    const mutants = [...mutantsOf(file, source)];
    const all = mutants.length;
    const survivors: Mutant[] = [];
    await Promise.all(
      roots.map(async (root) => {
        for (let mutant = mutants.shift(); mutant !== undefined; mutant = mutants.shift()) {
          await writeFile(join(root, file), mutant.text);
          if (!(await isKilled(root, tests))) survivors.push(mutant);
        }
        await writeFile(join(root, file), source);
      }),
    );
    total += all;
    killed += all - survivors.length;
    for (const { line, before, after } of survivors.toSorted((one, other) => one.line - other.line))
      console.log(`survived  ${file}:${line}\n          - ${before}\n          + ${after}`);
    console.log(`${file}: ${all - survivors.length} of ${all} killed\n`);
  }
  console.log(`mutation: ${killed} of ${total} killed, ${((100 * killed) / total).toFixed(1)} %`);
} finally {
  await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
}
