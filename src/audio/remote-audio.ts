// Downloads `audio.url` into the spool. Each redirect passes the whole guard [remote-audio.redirect-judged], the declared length and type are enforced, and
// slow or endless servers are aborted. The content is then validated like any upload [remote-audio.content-decides].
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { GatewayError } from "../contract/errors.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { createKeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import { type CallerRequest, GuardRefusal, type Outbound, type OutboundStream } from "../outbound/dial.ts";
import { audioUrlPolicy, type TargetPolicy } from "../outbound/url-policy.ts";
import { type AudioUrlExamination, examineUrl } from "./report-url-rules.ts";
import { fetchFailed, remoteError, urlRejected } from "./remote-errors.ts";
import { judgeHead, redirectTarget, type RemoteHead } from "./remote-reply.ts";
import type { Spool, SpooledAudio } from "./spool.ts";

export interface RemoteAudioServices {
  readonly outbound: Pick<Outbound, "receive" | "examine" | "vet">;
  readonly spool: Spool;
  /** The current allowed domains of the workspace and the shared ones. */
  readonly domainsOf: (workspaceId: WorkspaceId) => Promise<readonly string[]>;
  readonly allowedPorts: readonly number[];
  readonly maxRedirects: number;
  readonly logger: Logger;
  readonly times?: Partial<FetchTimes>;
}

export interface RemoteAudioRequest {
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  readonly maxBytes: number;
  /** Aborts when the audio is no longer needed. */
  readonly signal: AbortSignal;
}

export interface FetchedAudio {
  /** The caller disposes it. */
  readonly spooled: SpooledAudio;
  /** The server's declared type. */
  readonly mediaType: string;
}

export interface RemoteAudio {
  /** Checks all rules that need no request. Throws `AUDIO_URL_REJECTED`. */
  check(request: Pick<RemoteAudioRequest, "workspaceId" | "url">): Promise<void>;
  /** The same checks, reported rule by rule. */
  examine(request: Omit<RemoteAudioRequest, "maxBytes">): Promise<AudioUrlExamination>;
  /** Throws `AUDIO_URL_REJECTED`, `AUDIO_FETCH_FAILED`, `AUDIO_TOO_LARGE` or `INVALID_AUDIO` (empty). */
  download(request: RemoteAudioRequest): Promise<FetchedAudio>;
}

export interface FetchTimes {
  /** For DNS, connections, redirects and the whole body. */
  readonly totalMs: number;
  readonly headMs: number;
  /** At least this much must arrive in each window. */
  readonly windowMs: number;
  readonly windowBytes: number;
}

const TIMED_BYTES = 25_000_000;
const TIMES: FetchTimes = { totalMs: 60_000, headMs: 10_000, windowMs: 10_000, windowBytes: 160 * 1024 };
/** Keeps callers from flooding a host through this gateway, and limits disk use. Later fetches wait, within their time limit. */
const MAX_FETCHES_PER_HOST = 16;
const MAX_FETCHES = 64;
/** Per workspace: the last quarter is for others, however slow the servers are that one workspace fetches from. */
const MAX_FETCHES_PER_WORKSPACE = 48;

export function createRemoteAudio(services: RemoteAudioServices): RemoteAudio {
  const times = { ...TIMES, ...services.times };
  const places = createKeyedSemaphore({
    total: MAX_FETCHES,
    perKind: MAX_FETCHES_PER_HOST,
    perOwner: MAX_FETCHES_PER_WORKSPACE,
  });

  async function policyOf(workspaceId: WorkspaceId): Promise<TargetPolicy> {
    const domains = await services.domainsOf(workspaceId);
    return audioUrlPolicy({ domains, allowedPorts: services.allowedPorts });
  }

  async function follow(request: RemoteAudioRequest, stop: StopSignal): Promise<FetchedAudio> {
    const policy = await policyOf(request.workspaceId);
    let url = request.url;
    for (let redirects = 0; ; redirects++) {
      const target: Hop = { url, policy, maxBytes: request.maxBytes, times };
      const host = URL.canParse(url) ? new URL(url).host : "";
      const fetching = () => fetchHop(services, target, stop);
      const hop = await places.run(host, stop.signal, fetching, request.workspaceId);
      if (hop.kind === "audio") return hop.fetched;
      if (redirects >= services.maxRedirects) throw urlRejected("too_many_redirects");
      url = redirectTarget(hop.location, url);
    }
  }

  return {
    check: async ({ workspaceId, url }) => {
      try {
        await services.outbound.vet(url, await policyOf(workspaceId));
      } catch (error) {
        throw logFailure(services.logger, url, remoteError(error, false));
      }
    },
    examine: async ({ workspaceId, url, signal }) =>
      examineUrl(services.outbound, await policyOf(workspaceId), url, signal),
    download: async (request) => {
      using stop = createStop(request.signal);
      // Sized for a synchronous request. A larger limit, as of jobs, gets proportionally more time.
      stop.after(times.totalMs * Math.max(1, request.maxBytes / TIMED_BYTES), fetchFailed("timeout"));
      try {
        return await follow(request, stop);
      } catch (error) {
        throw logFailure(services.logger, request.url, stop.reason() ?? error);
      }
    },
  };
}

interface Hop {
  readonly url: string;
  readonly policy: TargetPolicy;
  readonly maxBytes: number;
  readonly times: FetchTimes;
}

type HopOutcome =
  | { readonly kind: "audio"; readonly fetched: FetchedAudio }
  | Extract<RemoteHead, { readonly kind: "redirect" }>;

async function fetchHop(
  { outbound, spool }: RemoteAudioServices,
  { url, policy, maxBytes, times }: Hop,
  stop: StopSignal,
): Promise<HopOutcome> {
  let headSeen = false;
  const request: CallerRequest = {
    trust: "caller",
    method: "GET",
    url,
    policy,
    headers: { accept: "audio/*, video/mp4, video/mpeg, video/webm", "user-agent": "patchbay" },
    signal: stop.signal,
    // The length is declared and enforced. This is for a parser that lets more through.
    maxReplyBytes: maxBytes + 65_536,
  };
  try {
    return await outbound.receive({ ...request, firstByteTimeoutMs: times.headMs }, async (reply) => {
      headSeen = true;
      const head = judgeHead(reply, maxBytes);
      if (head.kind === "redirect") return head;
      const spooled = await take(spool, reply, head.sizeBytes, times, stop);
      return { kind: "audio", fetched: { spooled, mediaType: head.mediaType } };
    });
  } catch (error) {
    throw remoteError(error, headSeen);
  }
}

async function take(
  spool: Spool,
  reply: OutboundStream,
  sizeBytes: number,
  times: FetchTimes,
  stop: StopSignal,
): Promise<SpooledAudio> {
  const writer = spool.begin({ maxBytes: sizeBytes, param: "audio.url" });
  let receivedBytes = 0;
  let windowStartBytes = 0;
  const timer = setInterval(() => {
    if (receivedBytes - windowStartBytes < times.windowBytes) stop.now(fetchFailed("stalled"));
    windowStartBytes = receivedBytes;
  }, times.windowMs);
  try {
    for await (const chunks of reply.body) {
      for (const chunk of chunks) {
        receivedBytes += chunk.byteLength;
        await writer.write(chunk);
      }
    }
    return await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** One abort signal for all reasons to stop the fetch, with the error that explains it. */
interface StopSignal extends Disposable {
  readonly signal: AbortSignal;
  now(reason: GatewayError): void;
  after(milliseconds: number, reason: GatewayError): void;
  reason(): GatewayError | null;
}

function createStop(callerSignal: AbortSignal): StopSignal {
  const controller = new AbortController();
  let why: GatewayError | null = null;
  let timer: NodeJS.Timeout | undefined;
  const now = (reason: GatewayError): void => {
    why ??= reason;
    controller.abort();
  };
  // Ignored: the caller no longer reads the error.
  const onCaller = (): void =>
    now(new GatewayError("REQUEST_TIMEOUT", { message: "The caller disconnected, and the work was stopped." }));
  if (callerSignal.aborted) onCaller();
  callerSignal.addEventListener("abort", onCaller);
  return {
    signal: controller.signal,
    now,
    after: (milliseconds, reason) => {
      timer = setTimeout(() => now(reason), milliseconds);
    },
    reason: () => why,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      callerSignal.removeEventListener("abort", onCaller);
    },
  };
}

/** Logs for the operator the host and the details that the caller does not get. The query may be a credential, the path a name. */
function logFailure(logger: Logger, url: string, error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { cause } = error;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  logger.info(
    {
      code: error.code,
      reason: error.details?.["reason"] ?? null,
      host: parsed?.host ?? null,
      path_sha256: parsed === null ? null : createHash("sha256").update(parsed.pathname).digest("hex").slice(0, 12),
      detail: cause instanceof GuardRefusal ? cause.detail : null,
    },
    "remote audio was not fetched",
  );
  return error;
}
