// The sandbox: a loopback HTTP server that simulates the providers' protocols [providers.sandbox-protocols]. Used by tests, and by the product while no
// provider account is configured.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createCallLog, type SandboxCall } from "./calls.ts";
import { answerControl, CONTROL_PATH } from "./control.ts";
import { createExchange } from "./exchange.ts";
import { createFaultBook, type FaultRule } from "./faults.ts";
import { createAudioMeter } from "./wire/measure-audio.ts";
import type { Dialect } from "./openai/dialects.ts";
import type { Endpoints } from "./endpoints.ts";
import { createLiveServer } from "./wire/live-server.ts";
import { BEFORE_ANY_RETIREMENT } from "./retired-models.ts";

export type { SandboxCall } from "./calls.ts";
export type { Dialect } from "./openai/dialects.ts";
export type { Fault, FaultRule } from "./faults.ts";

const KEPT_CALLS = 1000;
/** Reached only if a call never arrives, however busy the machine is. */
const WAIT_MS = 120_000;

export interface SandboxOptions {
  readonly host?: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  readonly keepCalls?: number;
  /**
   * The clock by which models retire. Without it none does: an installation without accounts keeps its sandbox models, and no test depends on the day on
   * which it runs.
   */
  readonly nowMs?: () => number;
}

export interface Sandbox {
  readonly origin: string;
  /** Base URL of `/v1/listen`. */
  readonly deepgramUrl: string;
  /** Base URL of `/v2/transcript`. */
  readonly assemblyaiUrl: string;
  /** Base URL of `/v1/messages`. */
  readonly anthropicUrl: string;
  /** Base URL of `/v2`, the token endpoint and the bucket. */
  readonly googleSpeechUrl: string;
  /** Base URL of `/v1beta`. */
  readonly geminiUrl: string;
  /** Base URL of `/v1/speech-to-text`. */
  readonly elevenlabsUrl: string;
  /** Ends in `/v1`, as does the next one. */
  readonly openaiUrl: string;
  readonly compatibleUrl: (dialect: Dialect) => string;
  /** Oldest first. A call is added when its request head arrives, and updated as it proceeds. */
  readonly calls: readonly SandboxCall[];
  readonly callCount: number;
  clearCalls(): void;
  /** The first call, earlier or later, that satisfies the predicate. */
  waitForCall(predicate: (call: SandboxCall) => boolean, timeoutMs?: number): Promise<SandboxCall>;
  addFault(rule: FaultRule): void;
  clearFaults(): void;
  /** Ends current delays and returns their number. Later requests are delayed as before. */
  endDelays(): number;
  /** The active rules, with their remaining number of requests. */
  faults(): readonly FaultRule[];
  replaceFaults(rules: readonly FaultRule[]): void;
  close(): Promise<void>;
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = "127.0.0.1", port = 0, keepCalls = KEPT_CALLS, nowMs = () => BEFORE_ANY_RETIREMENT } = options;
  const log = createCallLog(keepCalls);
  const faults = createFaultBook();
  const meter = createAudioMeter();
  const loadEndpoints = createEndpointLoader();
  const delays = new Set<AbortController>();
  const runExchange = createExchange({ log, faults, meter, delays, nowMs });
  const live = createLiveServer({
    log,
    faults,
    meter,
    nowMs,
    find: async (path) => (await loadEndpoints()).findLive(path),
  });
  const closing = new AbortController();
  const running = new Set<Promise<void>>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://sandbox");
    if (url.pathname.startsWith(CONTROL_PATH))
      return answerControl(request, response, { log, faults, path: url.pathname });
    const endpoints = await loadEndpoints();
    const bare = endpoints.bareAnswer(request.method ?? "", url.pathname);
    if (bare !== null) {
      request.resume();
      response.writeHead(bare.status, bare.headers).end(bare.body);
      return;
    }
    const wires = endpoints.find(url.pathname);
    const wire = wires?.[request.method ?? ""];
    if (wire === undefined) {
      request.resume();
      response
        .writeHead(wires === null ? 404 : 405, { "content-type": "application/json" })
        .end('{"error":"no such endpoint in the sandbox"}');
      return;
    }
    await runExchange({ request, response, url, wire, signal: closing.signal });
  }
  // Tests may have long uploads and stalls, and an idle connection must not be closed under a client.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 120_000 }, (request, response) => {
    const run = handle(request, response)
      .catch(() => void response.destroy())
      .finally(() => running.delete(run));
    running.add(run);
  });
  server.on("upgrade", (request, socket, head) => live.upgrade(request, socket, head));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Exclusive, because concurrent gateways must each have their own sandbox.
    server.listen({ port, host, exclusive: true }, resolve);
  });
  const origin = originOf(server.address());
  return {
    origin,
    deepgramUrl: `${origin}/deepgram`,
    assemblyaiUrl: `${origin}/assemblyai`,
    anthropicUrl: `${origin}/anthropic`,
    googleSpeechUrl: `${origin}/google-speech`,
    geminiUrl: `${origin}/gemini`,
    elevenlabsUrl: `${origin}/elevenlabs`,
    openaiUrl: `${origin}/openai/v1`,
    compatibleUrl: (dialect) => `${origin}/compatible/${dialect}/v1`,
    calls: log.calls,
    get callCount() {
      return log.count();
    },
    clearCalls: log.clear,
    waitForCall: (predicate, timeoutMs = WAIT_MS) => log.waitFor(predicate, timeoutMs),
    addFault: faults.add,
    clearFaults: () => faults.replaceAll([]),
    endDelays: () => {
      const pending = [...delays];
      for (const delay of pending) delay.abort();
      return pending.length;
    },
    faults: faults.list,
    replaceFaults: faults.replaceAll,
    close: async () => {
      closing.abort();
      const serverClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await live.close();
      // When all exchanges have ended, they have removed their spooled files.
      await Promise.all([serverClosed, meter.close(), ...running]);
    },
  };
}

/** The protocols are loaded by the first request: they take 3 MiB, and a gateway with accounts sends the sandbox nothing. */
function createEndpointLoader(): () => Promise<Endpoints> {
  let endpoints: Promise<Endpoints> | undefined;
  return () => (endpoints ??= import("./endpoints.ts").then(({ createEndpoints }) => createEndpoints()));
}

function originOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === "string") throw new Error("the sandbox has no TCP address");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
