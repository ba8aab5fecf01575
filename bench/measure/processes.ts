// Starts the benchmarks' own processes: stand-ins, baselines, load generators and gateways.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { openSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MANIFEST } from "../../src/local-models/manifest.ts";
import { startFlags } from "../../test/harness/node-flags.ts";
import { end } from "../../test/harness/programs.ts";
import { ended, type Running, tooLate } from "./child-process.ts";
import type { ChatLoadArgument, ChatLoadResult } from "../chat-load.ts";
import type { LoadArgument, LoadResult } from "./load-generator.ts";

export const KEY = "bench-key-of-the-notes-app-01";

export function startStandIn(): Promise<Running> {
  return startChild("./upstream/provider-stand-in.ts", {});
}

export function startReceiver(): Promise<Running> {
  return startChild("./upstream/webhook-receiver.ts", {});
}

/** `target`: where every request is forwarded. */
export function startForwarder(target: string): Promise<Running> {
  return startChild("./upstream/bare-forwarder.ts", { target });
}

/** `delayMs`: from the request to its answer. */
export function startChatStandIn(delayMs = 0): Promise<Running> {
  return startChild("./upstream/chat-stand-in.ts", { delayMs });
}

export async function runChatLoad(argument: ChatLoadArgument): Promise<ChatLoadResult> {
  return (await runChild("./chat-load.ts", argument)) as ChatLoadResult;
}

export async function runLoad(argument: LoadArgument): Promise<LoadResult> {
  return (await runChild("./measure/load-generator.ts", argument)) as LoadResult;
}

export interface GatewayOptions {
  readonly providerUrl: string;
  /** Null: the embedded database. */
  readonly databaseUrl: string | null;
  /** For benchmarks that write sealed rows themselves. Default: a key of this run. */
  readonly encryptionKey?: Buffer;
  /** For benchmarks that write keys themselves. Default: a new one. */
  readonly pepper?: string;
  /** `limits` of the configuration file. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Folder for a CPU profile, written when the process ends. */
  readonly profileDir?: string;
  /** Number of gateway processes. Default: 1. */
  readonly processes?: number;
  /** Models on this machine. Each has an app, with the key of `localKey`. */
  readonly local?: LocalModels;
}

export interface LocalModels {
  readonly dir: string;
  readonly names: readonly string[];
}

export function localKey(index: number): string {
  return `bench-key-of-the-app-of-model-${index}`;
}

/** Of this run: consecutive gateways on one database can open each other's sealed rows. */
const ENCRYPTION_KEY = randomBytes(32);

/** `patchbay up` as an operator starts it, with its data in a temporary folder. */
export async function startPatchbay(options: GatewayOptions): Promise<Running> {
  const { profileDir, processes = 1 } = options;
  const folder = await mkdtemp(join(tmpdir(), "patchbay-bench-"));
  const file = join(folder, "patchbay.yaml");
  await writeFile(file, JSON.stringify(configuration(options, folder)));
  const profile = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  const main = join(import.meta.dirname, "../../src/main.ts");
  // Of short runs in CI, which do not measure starts.
  const cache = process.env["NODE_COMPILE_CACHE"];
  const compileCache = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
  // The request log is written to a file, as in production.
  const log = openSync(join(folder, "log"), "w");
  const child = spawn(
    process.execPath,
    [...startFlags(), ...profile, main, "up", "--config", file, "--processes", `${processes}`],
    {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", ...compileCache },
      stdio: ["ignore", log, "pipe"],
    },
  );
  // Also if this process ends without waiting: no child may survive it.
  const cleanUp = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", cleanUp);
  const stop = async () => {
    // Does not wait for further connections, as after SIGTERM.
    await end(child, "SIGINT");
    process.off("exit", cleanUp);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const origin = await Promise.race([listening(child), ended(child, "patchbay"), tooLate("patchbay")]);
    return { origin, pid: child.pid ?? 0, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(options: GatewayOptions, dataDir: string): object {
  const { providerUrl, databaseUrl, limits, local } = options;
  const encryptionKey = options.encryptionKey ?? ENCRYPTION_KEY;
  const names = local?.names ?? [];
  const declared = names.filter((name) => MANIFEST.every((spec) => spec.name !== name));
  return {
    server: { host: "127.0.0.1", port: 0, admin: null },
    storage: { database_url: databaseUrl ?? "", data_dir: dataDir },
    limits: limits ?? {},
    // For receivers on loopback.
    webhooks: { allow_http: true, allowed_private_cidrs: ["127.0.0.1/32"] },
    ...(local === undefined ? {} : { models: { dir: local.dir } }),
    secrets: {
      key_pepper: options.pepper ?? randomBytes(32).toString("base64"),
      encryption_keys: [encryptionKey.toString("base64")],
    },
    prices: [
      { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.29", source: "benchmark", as_of: "2026-11-01" },
      {
        provider: "openai-compatible",
        model: "bench",
        usd_per_million_input_tokens: "1",
        usd_per_million_output_tokens: "4",
        source: "benchmark",
        as_of: "2026-11-01",
      },
    ],
    connections: [
      { id: "dg", kind: "deepgram", api_key: "secret", base_url: providerUrl },
      {
        id: "llm",
        kind: "openai-compatible",
        api_key: "secret",
        base_url: `${providerUrl}/v1`,
        models: { bench: { capabilities: ["chat"], limits: { max_output_tokens: 4_096 } } },
      },
      ...(local === undefined
        ? []
        : [
            {
              id: "here",
              kind: "local",
              models: Object.fromEntries(declared.map((name) => [name, { capabilities: ["audio_input"] }])),
            },
          ]),
    ],
    routes: [
      { id: "speech", targets: [{ connection: "dg", model: "nova-3" }] },
      { id: "chat", targets: [{ connection: "llm", model: "bench" }] },
      ...names.map((name, index) => ({ id: `model-${index}`, targets: [{ connection: "here", model: name }] })),
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "chat",
            audio_input_override: "speech",
            budgets: [{ period: "month", limit_usd: "1000000", limit_tokens: 1_000_000_000_000 }],
            keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe", "jobs", "chat"] }],
          },
          ...names.map((_, index) => ({
            id: `model-${index}`,
            route: `model-${index}`,
            keys: [{ id: `model-${index}-key`, secret: localKey(index), scopes: ["transcribe"] }],
          })),
        ],
      },
    ],
  };
}

async function listening(child: ChildProcess): Promise<string> {
  let output = "";
  return new Promise((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const origin = /listening\s+(http:\S+)/u.exec(output)?.[1];
      if (origin !== undefined) resolve(origin);
    });
    child.once("exit", () => process.stderr.write(output));
  });
}

/** Resolves with its final message. */
async function runChild(file: string, argument: object): Promise<unknown> {
  const child = forkFile(file, argument);
  const [result] = (await Promise.race([once(child, "message"), ended(child, file)])) as [unknown];
  // It exits only after its answer was received.
  child.disconnect();
  return result;
}

async function startChild(file: string, argument: object): Promise<Running> {
  const child = forkFile(file, argument);
  const [{ origin }] = (await Promise.race([once(child, "message"), ended(child, file), tooLate(file)])) as [
    { origin: string },
  ];
  const stop = () => end(child, "SIGKILL");
  return { origin, pid: child.pid ?? 0, stop, [Symbol.asyncDispose]: stop };
}

function forkFile(file: string, argument: object): ChildProcess {
  return fork(join(import.meta.dirname, "..", file), [JSON.stringify(argument)], { execArgv: [] });
}
