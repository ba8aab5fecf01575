// A loopback server in the gateway's place, and a terminal that remembers: what the CLI tests talk to.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { PassThrough, type Readable, Writable } from "node:stream";
import { type CliDependencies, runCli } from "../../src/cli/run-cli.ts";
import type { DoctorNetwork } from "../../src/operations/doctor/doctor-network.ts";
import type { ModelSources } from "../../src/operations/models/model-command.ts";
import { makeOperations } from "../../src/operations/operations.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface FakeGateway extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
}

export type Answer = (response: ServerResponse, request: Received, count: number) => void;

/** Reads each request whole, then answers. */
export async function fakeGateway(answer: Answer): Promise<FakeGateway> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const whole = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      received.push(whole);
      answer(response, whole, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const ENVELOPE = {
  id: "tr_1",
  object: "transcription",
  created_at: "2026-11-20T00:00:00.000Z",
  status: "completed",
  content: "Hello there.",
  language: "en",
  language_confidence: null,
  duration_seconds: 1.5,
  segments: [],
  words: [],
  warnings: [{ code: "SIMULATED_PROVIDER", message: "No provider was called.", param: null, details: null }],
  usage: { audio_seconds: 1.5, billable_audio_seconds: 0, total_tokens: 0 },
  svc_requested_purpose: null,
  svc_applied_purpose: null,
  svc_purpose_source: "none",
};

export function answerJson(
  response: ServerResponse,
  status: number,
  document: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_test", ...headers });
  response.end(JSON.stringify(document));
}

export function answerError(
  response: ServerResponse,
  status: number,
  code: string,
  retryable = false,
  headers: Readonly<Record<string, string>> = {},
): void {
  const error = {
    code,
    type: "api_error",
    message: `The message of ${code}.`,
    param: null,
    retryable,
    request_id: "req_test",
    doc_url: `http://gateway/docs/errors#${code}`,
    details: null,
  };
  answerJson(response, status, { error }, { "x-should-retry": String(retryable), ...headers });
}

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly command?: string;
  readonly stdin?: Readable;
  readonly isTTY?: boolean;
  readonly up?: CliDependencies["up"];
  readonly work?: CliDependencies["work"];
  /** What doctor finds out there; every name and every receiver unless given. */
  readonly network?: Pick<DoctorNetwork, "lookUp" | "reach">;
  /** Where models come from; nowhere unless given. */
  readonly models?: ModelSources;
}

const EVERYTHING_IS_THERE: Pick<DoctorNetwork, "lookUp" | "reach"> = {
  lookUp: async () => ["203.0.113.7"],
  reach: async () => ({ kind: "reached" }),
};

const NO_DOWNLOADS: ModelSources = {
  openDownloads: () => Promise.reject(new Error("a test without a network downloads nothing")),
};

/** The operator's commands, in a network where no name server is asked. */
export const operations = operationsIn(EVERYTHING_IS_THERE);

function operationsIn(
  network: Pick<DoctorNetwork, "lookUp" | "reach">,
  sources: ModelSources = NO_DOWNLOADS,
): ReturnType<typeof makeOperations> {
  return makeOperations(async () => ({ ...network, close: async () => undefined }), sources);
}

/** Runs the command line in this process. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const stdout = remember(options.isTTY === true);
  const stderr = remember(options.isTTY === true);
  const exitCode = await runCli(argv, {
    up: options.up ?? (() => Promise.resolve(0)),
    work: options.work ?? (() => Promise.resolve(0)),
    operations: operationsIn(options.network ?? EVERYTHING_IS_THERE, options.models),
    env: options.env ?? {},
    cwd: options.cwd ?? import.meta.dirname,
    command: options.command,
    stdin: options.stdin ?? new PassThrough().end(),
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

function remember(isTTY: boolean) {
  let text = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), text: () => text };
}
