// Runs the commands of a guide as a reader would: in a new folder, one block after the other, on the gateway that the guide starts. What a guide shows as output
// must be what its commands print.
//
// Words behind a block's language, which no renderer shows:
// - `sh background`: runs until the guide ends, as in a second terminal. `npm start` always does.
// - `sh fails`: must end with an exit code other than 0.
// - `sh eventually`: runs again until it prints what the guide shows, because the request log is up to 0.5 s behind [requests.write-batches].
//
// Other pages use the same for the outputs that they show (test/docs/outputs.test.ts). There `patchbay` is found as if it were installed.
//
// `npm run patchbay -- models` downloads from a server of the test instead of the publisher's, and a person at a terminal accepts (models-stand-in.ts).
import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { CREATION_MARKER } from "../../src/storage/embedded/installation-state.ts";
import { startFlags } from "../harness/node-flags.ts";
import { fillDataDir } from "../harness/postgres/embedded-data.ts";
import { ENVIRONMENT, twoFreePorts } from "../up/commands.ts";

export const ROOT = join(import.meta.dirname, "../..");
/** What a checkout has, as far as guides use it. */
const CHECKOUT = ["sandbox", "examples", "docs", "package.json", "node_modules", "src", "patchbay.example.yaml"];
/** The guides of a reader who has not started a gateway before. The others begin with its empty database, because creating one takes half of their time. */
const OF_FIRST_STARTS = new Set(["README.md", "docs/guides/first-transcript.md", "docs/guides/install.md"]);
/** Of one block. Only a hanging command reaches it, even on a busy machine. */
const LIMIT_MS = 180_000;
/** From Ctrl-C to SIGKILL. A gateway stops its database server in this time. */
const STOP_MS = 60_000;
const START = /^(?:\w+=\S* )*(?:npm ci && )?(?:\w+=\S* )*npm start(?: -- .*)?$/mu;
/** The last of the addresses that a start prints, after its self-check. */
const STARTED = /^\s*docs\s+http/mu;
/** Where guides name a port of this machine. */
const PORT = /(127\.0\.0\.1:|localhost:|--port |--admin-port |PORT=)(\d{4})\b/gu;
/** The variables of one block are those of the next. */
const PROLOGUE = "set -a -e -o pipefail; if [ -e .variables ]; then . ./.variables; fi\n";
const KEEP_VARIABLES = "trap 'declare -px > .variables' EXIT\n";

export interface Block {
  readonly language: string;
  readonly flags: readonly string[];
  readonly code: string;
}

interface Running {
  readonly code: string;
  readonly output: () => string;
  readonly exitCode: () => number | null;
  /** Resolves when the condition holds, or the block has ended. Throws with what was printed after `LIMIT_MS`. */
  readonly until: (condition: () => boolean, message: () => string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Repeatable {
  readonly block: Block;
  readonly start: () => Running;
}

type Ports = ReadonlyMap<string, string>;

export async function runGuide(file: string): Promise<void> {
  const isFirstStart = OF_FIRST_STARTS.has(file);
  await runBlocks(blocksOf(readFileSync(join(ROOT, file), "utf8")), { isFirstStart });
}

export interface SessionOptions {
  /** Whether a start of the gateway creates its database. */
  readonly isFirstStart?: boolean;
}

export async function runBlocks(blocks: readonly Block[], options: SessionOptions = {}): Promise<void> {
  await using session = await openSession(blocks, options);
  for (const block of blocks) await session.run(block);
}

/** A folder in which blocks run one after the other. */
export interface GuideSession extends AsyncDisposable {
  /** Commands are run. Of a text, the output of the last commands is checked. */
  readonly run: (block: Block) => Promise<void>;
  /** What the last commands printed. */
  readonly printed: () => string;
  /** Resolves with the first line of the gateway's output for which `isWanted` is true. */
  readonly gatewayLine: (isWanted: (line: string) => boolean) => Promise<string>;
}

/** `blocks` are all that will run: their ports are chosen before. */
export async function openSession(
  blocks: readonly Block[],
  { isFirstStart = false }: SessionOptions = {},
): Promise<GuideSession> {
  const ports = await freePorts(blocks);
  const folder = makeFolder(ports);
  if (!isFirstStart && blocks.some(({ code }) => START.test(code))) await prepareDatabase(join(folder, "data"));
  const background: Running[] = [];
  let gateway: Running | null = null;
  let again: Repeatable | null = null;
  let last: Running | null = null;
  const runCommands = async (block: Block): Promise<void> => {
    const isStart = START.test(block.code);
    const isBackground = isStart || block.flags.includes("background");
    // One gateway at a time: before it is started again, the reader has stopped it.
    if (isStart) await gateway?.stop();
    const start = (): Running => run(folder, block.code, { ports, isBackground });
    last = start();
    if (isBackground) background.push(last);
    if (isStart) gateway = last;
    if (isStart) await assertStarted(last);
    else if (!isBackground) await assertEnded(last, block);
    again = block.flags.includes("eventually") ? { block, start } : null;
  };
  const checkOutput = async ({ code }: Block): Promise<void> => {
    if (again !== null && last !== null) last = await runUntilPrinted(code, again, last);
    await assertPrinted(
      code,
      last,
      background.filter((each) => each !== gateway),
    );
  };
  return {
    run: async (block) => {
      if (block.language === "text") await checkOutput(block);
      if (block.language === "sh") await runCommands(block);
    },
    printed: () => last?.output() ?? "",
    gatewayLine: async (isWanted) => {
      assert.ok(gateway !== null, "no gateway was started");
      const { output, until } = gateway;
      const find = (): string | undefined => output().split("\n").find(isWanted);
      await until(
        () => find() !== undefined,
        () => `The gateway did not print the line. Printed:\n${output()}`,
      );
      return find() ?? assert.fail(`The gateway ended. Printed:\n${output()}`);
    },
    [Symbol.asyncDispose]: async () => {
      await stopAll(background);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Fenced blocks in their order, those of lists without their indentation. */
export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^( *)```(\w+)([^\n]*)\n([\s\S]*?)^\1```$/gmu)].map(
    ([, indent = "", language = "", flags = "", code = ""]) => ({
      language,
      flags: flags.split(" ").filter(Boolean),
      code: code.replaceAll(new RegExp(`^${indent}`, "gmu"), "").trimEnd(),
    }),
  );
}

/** Guides name fixed ports on this machine, tests use free ones. */
async function freePorts(blocks: readonly Block[]): Promise<Ports> {
  const named = blocks.flatMap(({ code }) => [...code.matchAll(PORT)]);
  const ports = new Map<string, string>();
  for (const port of new Set(["8080", "8081", ...named.map(([, , port = ""]) => port)]))
    ports.set(port, String(await twoFreePorts()));
  return ports;
}

/** The checkout by links, an `npm` that runs two of its scripts, and `patchbay` as if it were installed. */
function makeFolder(ports: Ports): string {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-guide-"));
  // Readers work in a folder that others may pass through. If it were private, root's database server would be elsewhere.
  chmodSync(folder, 0o711);
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, ".bin"));
  const [node, main] = [process.execPath, join(ROOT, "src/main.ts")];
  const up = `up --port ${ports.get("8080")} --admin-port ${ports.get("8081")}`;
  const npm = `#!/bin/sh
case "$*" in
  start) exec "${node}" ${startFlags().join(" ")} "${main}" ${up} ;;
  "start -- "*) shift 2; exec "${node}" ${startFlags().join(" ")} "${main}" ${up} "$@" ;;
  "run patchbay -- models "*) shift 3; exec "${node}" "${join(import.meta.dirname, "models-stand-in.ts")}" "$@" ;;
  "run --silent patchbay -- "*) shift 4; exec "${node}" "${main}" "$@" ;;
  "run sandbox -- "*) shift 3; exec "${node}" "${join(ROOT, "sandbox/main.ts")}" "$@" ;;
  "run patchbay -- "*) shift 3; exec "${node}" "${main}" "$@" ;;
  ci) ;;
  *) echo "npm $*: not one of the scripts that guides use" >&2; exit 1 ;;
esac
`;
  writeFileSync(join(folder, ".bin/npm"), npm, { mode: 0o755 });
  writeFileSync(join(folder, ".bin/patchbay"), `#!/bin/sh\nexec "${node}" "${main}" "$@"\n`, { mode: 0o755 });
  // Of util-linux, which a small container lacks.
  const uuidgen = `#!/bin/sh\nexec "${node}" -p 'crypto.randomUUID()'\n`;
  writeFileSync(join(folder, ".bin/uuidgen"), uuidgen, { mode: 0o755 });
  return folder;
}

/** As a first start leaves it that is interrupted once its database is there: the next one continues with the rest. */
async function prepareDatabase(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { mode: 0o700 });
  await fillDataDir(dataDir);
  writeFileSync(join(dataDir, CREATION_MARKER), "{}\n", { mode: 0o600 });
}

function run(
  folder: string,
  code: string,
  { ports, isBackground }: { readonly ports: Ports; readonly isBackground: boolean },
): Running {
  const script = PROLOGUE + (isBackground ? "" : KEEP_VARIABLES) + withPorts(code, ports);
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn("bash", ["--noprofile", "--norc", "-c", script], {
    cwd: folder,
    env: {
      ...ENVIRONMENT,
      PATH: [join(folder, ".bin"), ENVIRONMENT.PATH].join(delimiter),
      HOME: folder,
      NO_COLOR: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, so that a signal reaches what the block started.
    detached: true,
  });
  let printed = "";
  const listeners = new Set<() => void>();
  const notify = (): void => listeners.forEach((listener) => listener());
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      notify();
    });
  let hasEnded = false;
  // Of the block and all that holds its output: also the children of a gateway.
  const closed = once(child, "close").finally(() => {
    hasEnded = true;
    notify();
  });
  const output = (): string => withDocumentedPorts(printed, ports);
  const until = async (condition: () => boolean, message: () => string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      if (hasEnded || condition()) resolve();
    };
    const limit = setTimeout(() => {
      reject(new Error(`${message()}\nAfter ${LIMIT_MS / 1000} s.`));
    }, LIMIT_MS);
    listeners.add(check);
    check();
    await promise.finally(() => {
      clearTimeout(limit);
      listeners.delete(check);
    });
  };
  const stop = async (): Promise<void> => {
    if (hasEnded) return;
    signalGroup(child.pid, "SIGINT");
    const limit = setTimeout(() => signalGroup(child.pid, "SIGKILL"), STOP_MS);
    await closed;
    clearTimeout(limit);
  };
  return { code, output, exitCode: () => child.exitCode, until, stop };
}

/** A group that has ended since needs no signal. */
function signalGroup(group: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (group !== undefined) process.kill(-group, signal);
  } catch {}
}

/** Newest first: a receiver ends before the gateway. */
async function stopAll(running: readonly Running[]): Promise<void> {
  for (const each of running.toReversed()) await each.stop();
}

async function assertStarted(gateway: Running): Promise<void> {
  const message = (): string => `The gateway did not start:\n${gateway.output()}`;
  await gateway.until(() => STARTED.test(gateway.output()), message);
  assert.ok(STARTED.test(gateway.output()), message());
}

async function assertEnded(running: Running, { code, flags }: Block): Promise<void> {
  try {
    await running.until(
      () => false,
      () => `This did not end:\n${code}\nPrinted:\n${running.output()}`,
    );
  } finally {
    await running.stop();
  }
  const shouldFail = flags.includes("fails");
  const outcome = shouldFail ? "should have failed" : `ended with exit code ${running.exitCode()}`;
  assert.equal(running.exitCode() !== 0, shouldFail, `This ${outcome}:\n${code}\nPrinted:\n${running.output()}`);
}

/** The run that printed it, or the last one within the limit. Each run is a process, so that this does not spin. */
async function runUntilPrinted(shown: string, { block, start }: Repeatable, first: Running): Promise<Running> {
  const deadline = performance.now() + LIMIT_MS;
  let running = first;
  while (missingLine(shown, running.output()) !== null && performance.now() < deadline) {
    running = start();
    await assertEnded(running, block);
  }
  return running;
}

/** Every line that is shown is printed, in this order, by the last block or, maybe later, by one in the background. */
async function assertPrinted(shown: string, last: Running | null, background: readonly Running[]): Promise<void> {
  assert.ok(last !== null, `This output belongs to no command:\n${shown}`);
  if (missingLine(shown, last.output()) === null) return;
  const candidates = [...new Set([last, ...background])];
  const isPrinted = (): boolean => candidates.some((each) => missingLine(shown, each.output()) === null);
  const message = (): string =>
    [
      `This line is shown and was not printed:\n${missingLine(shown, last.output())}`,
      ...candidates.map((each) => `Commands:\n${each.code}\nPrinted:\n${each.output()}`),
    ].join("\n");
  // One that has ended prints no more.
  const hasPrinted = await Promise.any(
    candidates.map(async (each) => {
      await each.until(isPrinted, message);
      assert.ok(isPrinted());
    }),
  ).then(
    () => true,
    () => false,
  );
  assert.ok(hasPrinted, message());
}

/** The first of the shown lines that is not in the output behind the one before it. `…` stands for any text, also none. */
export function missingLine(shown: string, printed: string): string | null {
  const lines = linesOf(printed);
  let from = 0;
  for (const line of linesOf(shown)) {
    if (line === "" || line === "…") continue;
    const pattern = new RegExp(
      `^${line
        .split(/\s*…\s*/u)
        .map(escapePattern)
        .join(".*")}$`,
      "u",
    );
    const index = lines.findIndex((each, place) => place >= from && pattern.test(each));
    if (index === -1) return line;
    from = index + 1;
  }
  return null;
}

/** Without the spaces that align columns. */
function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim().replaceAll(/\s+/gu, " "));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

function withPorts(code: string, ports: Ports): string {
  return code.replaceAll(PORT, (_, before: string, port: string) => `${before}${ports.get(port)}`);
}

function withDocumentedPorts(printed: string, ports: Ports): string {
  return [...ports].reduce((text, [documented, free]) => text.replaceAll(free, documented), printed);
}
