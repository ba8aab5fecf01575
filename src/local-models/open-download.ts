// Opens a download at a position: follows redirects to allowed hosts only [local-models.redirects], and checks what the server says about length and range
// [local-models.ranges].
import type { Outbound, OutboundStream } from "../outbound/dial.ts";
import { ModelFault } from "./model-fault.ts";

export interface Origin {
  readonly outbound: Pick<Outbound, "open">;
  /** Hosts, with a port if it is not 443. `*.` stands for any subdomain. */
  readonly hosts: readonly string[];
}

export interface Opened {
  /** Position of the first byte: the requested one, or 0 where the server cannot continue. */
  readonly start: number;
  readonly body: OutboundStream["body"];
}

interface Wanted {
  readonly url: string;
  readonly bytes: number;
  readonly from: number;
}

/** The server cannot answer now: trying again may help. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

const MAX_REDIRECTS = 5;
const FIRST_BYTE_MS = 30_000;
const IDLE_MS = 60_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export async function openDownload(wanted: Wanted, origin: Origin, signal: AbortSignal): Promise<Opened> {
  const { reply, close } = await follow(wanted, origin, signal);
  const verdict = judgeHead(reply, wanted);
  if (verdict.kind === "start") return { start: verdict.start, body: reply.body };
  close();
  if (verdict.kind === "fault") throw verdict.error;
  // The server cannot continue at this position: from the beginning, without a range.
  return openDownload({ ...wanted, from: 0 }, origin, signal);
}

interface ClosableReply {
  readonly reply: OutboundStream;
  /** Closes the connection without reading the body. */
  readonly close: () => void;
}

async function follow({ url, from }: Wanted, origin: Origin, signal: AbortSignal): Promise<ClosableReply> {
  let target = requireAllowed(url, origin.hosts, "The download");
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const controller = new AbortController();
    const close = (): void => controller.abort();
    const reply = await origin.outbound.open({
      trust: "operator",
      method: "GET",
      url: target,
      headers: { accept: "*/*", "user-agent": "patchbay", ...(from > 0 ? { range: `bytes=${from}-` } : {}) },
      signal: AbortSignal.any([signal, controller.signal]),
      // The manifest's size is the limit, which the reader enforces.
      maxReplyBytes: Number.MAX_SAFE_INTEGER,
      firstByteTimeoutMs: FIRST_BYTE_MS,
      idleTimeoutMs: IDLE_MS,
    });
    if (!REDIRECTS.has(reply.status)) return { reply, close };
    close();
    const location = reply.headers["location"];
    if (location === undefined || !URL.canParse(location, target.href))
      throw new ModelFault("network", `${target.host} redirects to nowhere.`);
    target = requireAllowed(new URL(location, target).href, origin.hosts, `${target.host} redirects: the download`);
  }
  throw new ModelFault("network", `The download was redirected more than ${MAX_REDIRECTS} times.`);
}

/** Names the host only: the query of a redirect is a credential. */
function requireAllowed(text: string, hosts: readonly string[], subject: string): URL {
  const url = new URL(text);
  if (url.protocol !== "https:")
    throw new ModelFault("network", `${subject} would leave HTTPS: ${url.protocol}//${url.host} is refused.`);
  if (url.username !== "" || url.password !== "")
    throw new ModelFault("network", `${subject} has a user name in its address, which is refused.`);
  if (!hosts.some((pattern) => matchesHost(url.host, pattern)))
    throw new ModelFault(
      "network",
      `${subject} is at ${url.host}, which is not one of its hosts: ${hosts.join(", ")}.`,
    );
  return url;
}

function matchesHost(host: string, pattern: string): boolean {
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

type Verdict =
  | { readonly kind: "start"; readonly start: number }
  | { readonly kind: "restart" }
  | { readonly kind: "fault"; readonly error: Error };

function judgeHead({ status, headers }: OutboundStream, { url, bytes, from }: Wanted): Verdict {
  const encoding = headers["content-encoding"];
  if (status < 300 && encoding !== undefined && encoding !== "identity")
    return mismatch(`The server sends ${url} compressed (${encoding}), which was not asked for.`);
  if (status === 200) {
    // A whole reply, also where a range was asked for.
    const length = headers["content-length"];
    return length === undefined || Number(length) === bytes
      ? { kind: "start", start: 0 }
      : mismatch(`The server says that ${url} has ${length} bytes instead of ${bytes}.`);
  }
  if (status === 206) return judgeRange(headers["content-range"], { url, bytes, from });
  if (status === 416 && from > 0) return { kind: "restart" };
  if (status === 408 || status === 429 || status >= 500)
    return { kind: "fault", error: new Unavailable(`the server answers ${status}`) };
  return { kind: "fault", error: new ModelFault("network", `The server answers ${status} for ${url}.`) };
}

function judgeRange(range: string | undefined, { url, bytes, from }: Wanted): Verdict {
  const parts = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/u.exec(range ?? "");
  if (from === 0) return mismatch(`The server sends a part of ${url}, although the whole was asked for.`);
  const [, first, last, total] = parts ?? [];
  if (total !== undefined && total !== "*" && Number(total) !== bytes)
    return mismatch(`The server says that ${url} has ${total} bytes instead of ${bytes}.`);
  const isContinued = Number(first) === from && Number(last) === bytes - 1;
  return isContinued ? { kind: "start", start: from } : { kind: "restart" };
}

function mismatch(message: string): Verdict {
  return { kind: "fault", error: new ModelFault("mismatch", message) };
}
