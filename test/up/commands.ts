// `patchbay up` and `patchbay worker` as an operator starts them: processes of their own, with what they print.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EXIT } from "../../src/cli/exit-codes.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { listenProblem } from "../../src/http/server/check-port.ts";
import { startFlags } from "../harness/node-flags.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const KEY = "key-of-gateways-beside-each-other-01";
export const SAMPLE = join(import.meta.dirname, "../../sandbox/samples/dialogue.mp3");
/** Of every installation that these files start. */
export const [PEPPER, ENCRYPTION_KEY] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];

/** The cache of what was compiled, so that not each of them compiles the whole gateway, and nothing else that configures one. */
export const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
};

export interface Command {
  readonly process: ChildProcess;
  /** The first group of the pattern, as soon as it is printed; an error if the process ends without it. */
  readonly said: (pattern: RegExp) => Promise<string>;
}

/** One app, whose provider is the built-in sandbox. */
export function configuration(
  storage: NonNullable<ConfigurationFile["storage"]>,
  adminPort: number,
): ConfigurationFile {
  return {
    server: { port: 0, admin: { port: adminPort } },
    storage,
    secrets: { key_pepper: PEPPER, encryption_keys: [ENCRYPTION_KEY] },
    connections: [{ id: "sim", kind: "sandbox" }],
    routes: [{ id: "speech", targets: [{ connection: "sim", model: "deepgram/nova-3" }] }],
    workspaces: [
      {
        id: "acme",
        apps: [{ id: "notes", route: "speech", keys: [{ id: "k", secret: KEY, scopes: ["transcribe", "jobs"] }] }],
      },
    ],
  };
}

/** Resolves with its path. */
export async function writeConfiguration(folder: string, file: ConfigurationFile): Promise<string> {
  const path = join(folder, "patchbay.yaml");
  await writeFile(path, JSON.stringify(file));
  return path;
}

/** Node's arguments. */
export function commandLine(path: string, ...command: readonly string[]): string[] {
  return [...startFlags(), MAIN, ...command, "--config", path];
}

/** In this folder, with this file as its `patchbay.yaml`. */
export async function startCommand(
  folder: string,
  file: ConfigurationFile,
  ...command: readonly string[]
): Promise<Command> {
  return startProcess(folder, commandLine(await writeConfiguration(folder, file), ...command));
}

/** Without a configuration file, with these variables. */
export function startWithoutFile(
  folder: string,
  env: Readonly<Record<string, string>>,
  ...command: readonly string[]
): Command {
  return startProcess(folder, [...startFlags(), MAIN, ...command], env);
}

function startProcess(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...ENVIRONMENT, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const killWithTests = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithTests);
  child.once("exit", () => process.off("exit", killWithTests));
  let text = "";
  const heard = new Set<() => void>();
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    for (const look of heard) look();
  });
  const said = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(text)?.[1];
        if (found === undefined) return;
        heard.delete(look);
        resolve(found);
      };
      heard.add(look);
      child.stderr.once("close", () => reject(new Error(`it ended, saying: ${text}`)));
      look();
    });
  return { process: child, said };
}

/** Stops it as Ctrl-C would, and expects an end in good order. */
export async function stopCommand({ process: child }: Command): Promise<void> {
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [EXIT.ok, null]);
}

export async function childrenOf({ pid }: ChildProcess): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1");
  return text.split(" ").filter(Boolean).map(Number);
}

export async function answering(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    await answer?.text();
    if (answer?.status === 200) return;
    // Not at once again: the process that is about to answer needs the processor.
    await pause(20);
  }
}

/** The status of a transcription of the bundled sample. */
export async function transcribe(origin: string): Promise<number> {
  return (await post(origin, "/v1/transcription")).status;
}

export async function post(origin: string, path: string): Promise<{ readonly status: number; readonly json: unknown }> {
  const form = new FormData();
  form.append("file", new Blob([await readFile(SAMPLE)]), "dialogue.mp3");
  const answer = await fetch(`${origin}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, connection: "close" },
    body: form,
  });
  return { status: answer.status, json: await answer.json() };
}

/** The job when it has ended. */
export async function endedJob(origin: string, id: string): Promise<{ readonly status: string }> {
  for (;;) {
    const answer = await fetch(`${origin}/v1/transcription/jobs/${id}?wait=20`, {
      headers: { authorization: `Bearer ${KEY}`, connection: "close" },
    });
    const job = (await answer.json()) as { readonly status: string; readonly finished_at: string | null };
    if (answer.status === 200 && job.finished_at !== null) return job;
  }
}

export async function twoFreePorts(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const reasons = await Promise.all([port, port + 1].map((each) => listenProblem("127.0.0.1", each)));
    if (reasons.every((reason) => reason === null)) return port;
  }
}
