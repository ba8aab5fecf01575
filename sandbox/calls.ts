// Records the calls to the sandbox, so that tests can check whether a provider was called.
import type { IncomingMessage } from "node:http";
import type { ReceivedFile } from "./wire/multipart-reader.ts";
import { type Pairs, valueOf, type WireName } from "./wire/wire.ts";

export interface SandboxCall {
  readonly wire: WireName;
  readonly model: string;
  readonly method: string;
  readonly path: string;
  readonly query: Pairs;
  /** Credentials are replaced by their scheme and last four characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of a multipart body without the file, or members of a JSON body as JSON. */
  readonly fields: Pairs;
  /** The file part, or the raw body. */
  readonly file: {
    readonly name: string;
    readonly contentType: string;
    readonly sizeBytes: number;
    readonly sha256: string;
  } | null;
  /** The status that was sent, or `pending` before that. */
  readonly outcome: number | "reset" | "stalled" | "pending";
  /** The caller disconnected before the whole answer was sent. */
  readonly aborted: boolean;
}

export type CallRecord = { -readonly [Key in keyof SandboxCall]: SandboxCall[Key] };

export interface CallLog {
  readonly calls: readonly SandboxCall[];
  /** Calls since the last clearing, including those no longer kept. */
  readonly count: () => number;
  readonly begin: (call: CallRecord) => void;
  /** Must be called after a record changed. */
  readonly changed: () => void;
  readonly clear: () => void;
  readonly waitFor: (predicate: (call: SandboxCall) => boolean, timeoutMs: number) => Promise<SandboxCall>;
}

export function createCallLog(keep: number): CallLog {
  const calls: CallRecord[] = [];
  let watchers: (() => void)[] = [];
  let count = 0;

  function changed(): void {
    for (const watcher of watchers) watcher();
  }
  return {
    calls,
    count: () => count,
    changed,
    begin: (call) => {
      count += 1;
      calls.push(call);
      if (calls.length > keep) calls.shift();
      changed();
    },
    clear: () => {
      calls.length = 0;
      count = 0;
    },
    waitFor: (predicate, timeoutMs) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => settle(() => reject(new Error(`no such call within ${timeoutMs} ms`))),
          timeoutMs,
        );
        const settle = (finish: () => void): void => {
          clearTimeout(timer);
          watchers = watchers.filter((each) => each !== look);
          finish();
        };
        const look = (): void => {
          const match = calls.find(predicate);
          if (match !== undefined) settle(() => resolve(match));
        };
        watchers.push(look);
        look();
      }),
  };
}

/** Creates a record from the request head. `modelParameter`: the query parameter with the model, if the protocol has one. */
export function newCallRecord(
  request: IncomingMessage,
  url: URL,
  { wire, modelParameter }: { readonly wire: WireName; readonly modelParameter: string | null },
): CallRecord {
  const query = [...url.searchParams];
  return {
    wire,
    model: modelParameter === null ? "" : (valueOf(query, modelParameter) ?? ""),
    method: request.method ?? "",
    path: url.pathname,
    query,
    headers: describeHeaders(request),
    fields: [],
    file: null,
    outcome: "pending",
    aborted: false,
  };
}

function describeHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers[name];
    if (value !== undefined) headers[name] = maskCredential(value);
  }
  return headers;
}

const CREDENTIAL_HEADERS = ["authorization", "xi-api-key", "x-goog-api-key", "x-api-key"];

function maskCredential(value: string): string {
  const [scheme = "", ...rest] = value.split(" ");
  return rest.length === 0 ? `…${scheme.slice(-4)}` : `${scheme} …${rest.join(" ").slice(-4)}`;
}

export const describeFile = ({ name, contentType, spooled }: ReceivedFile): NonNullable<SandboxCall["file"]> => ({
  name,
  contentType,
  sizeBytes: spooled.sizeBytes,
  sha256: spooled.sha256,
});
