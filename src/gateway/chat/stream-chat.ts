// A chat as a stream: it may fall back until a provider's first content and never after it, one error part ends a broken stream, a caller
// who disconnects stops the provider, and usage is recorded in every ending [chat.stream-first-content] [chat.stream-broken].
import { newId } from "../../contract/ids.ts";
import type { ChatEvent, ChatRequest, ChatUsage, Reasoning } from "../../providers/chat/chat-provider.ts";
import { ProviderError } from "../../providers/io.ts";
import { revocationOf } from "../calls/attempt-end.ts";
import { createAnswerParts, joined } from "./answer-parts.ts";
import { attemptWarnings, chatAnswer } from "./chat-answer.ts";
import { type ChatAttempt, openAttempt, type Used, usageOf } from "./chat-attempt.ts";
import type { ChatCandidate, DecidedChat, ChatCall, ChatStream, ChatStreamPart } from "./chat-call.ts";
import { streamBroke } from "../calls/judge-failure.ts";
import { routingFacts } from "../routing-facts.ts";
import { firstToServe, requireReceipts } from "./run-chat.ts";
import type { GatewayServices } from "../services.ts";

/** A stream has no deadline of its own as long as it flows; the connection's `timeout_seconds` bounds it. */
const NO_DEADLINE_MS = Number.MAX_SAFE_INTEGER;

interface Stoppable {
  readonly attempt: ChatAttempt;
  /** Stops the call; a `ProviderError` as the reason says what kind of failure that is. */
  readonly stopping: AbortController;
}

/** A stream whose first content has come. */
interface Opened extends Stoppable {
  readonly source: Source;
  /** Those that came with it. */
  readonly first: readonly ChatEvent[];
}

export async function openChatStream(
  services: GatewayServices,
  call: ChatCall,
  decision: DecidedChat,
): Promise<ChatStream> {
  const opened = await firstToServe(services, call, decision, { slot: null, hasTime: () => true }, (candidate) =>
    openOne(services, call, decision, candidate),
  );
  return {
    simulated: opened.attempt.billing.billingClass === "simulated",
    facts: routingFacts({
      ...decision.purpose,
      warnings: [...decision.warnings, ...attemptWarnings(opened.attempt, null)],
    }),
    parts: relay(services, call, decision, opened),
  };
}

async function openOne(
  services: GatewayServices,
  call: ChatCall,
  decision: DecidedChat,
  candidate: ChatCandidate,
): Promise<Opened> {
  const stopping = new AbortController();
  let heard: () => void = () => undefined;
  const attempt = await openAttempt(services, call, decision, candidate, {
    slot: null,
    signal: AbortSignal.any([call.clientGone, stopping.signal]),
    timeoutMs: NO_DEADLINE_MS,
    onReceived: () => heard(),
  });
  const source = createSource({ attempt, stopping }, candidate.target.firstContentTimeoutMs, services.streamIdleMs);
  ({ heard } = source);
  /** It goes out with the first content, for it is none. */
  let reasoning: Reasoning | null = null;
  try {
    for (;;) {
      const events = await source.next();
      if (events === null) throw new ProviderError("bad_reply", { reason: "no_finish" });
      if (events.some(isContent)) {
        requireOfEmpty(decision.wanted, events);
        source.contentCame();
        const first = reasoning === null ? events : [{ type: "reasoning", reasoning } as const, ...events];
        return { attempt, stopping, source, first };
      }
      for (const event of events) if (event.type === "reasoning") reasoning = joined(reasoning, event.reasoning);
    }
  } catch (error) {
    await endBadly({ attempt, stopping }, error, usedOf(source, 0));
    throw error;
  }
}

async function* relay(
  services: GatewayServices,
  { recorder, clientGone }: ChatCall,
  decision: DecidedChat,
  { attempt, stopping, source, first }: Opened,
): AsyncGenerator<readonly ChatStreamPart[]> {
  const id = newId("chat");
  const createdAt = services.now();
  const parts = createAnswerParts();
  let ended = false;
  try {
    yield [{ kind: "started", id, createdAt: createdAt.toISOString() }];
    for (let events: readonly ChatEvent[] | null = first; events !== null; events = await source.next()) {
      const told = events.flatMap((event) => parts.add(event) ?? []);
      if (told.length > 0) yield told;
    }
    const content = parts.content();
    if (content === null) throw new ProviderError("bad_reply", { reason: "no_finish" });
    const used = usedOf(source, parts.tokens());
    requireReceipts(decision.wanted, content);
    ended = true;
    await attempt.succeed(used, source.providerRequestId());
    const usage = usageOf(attempt.billing, used);
    yield [{ kind: "completed", answer: chatAnswer({ id, createdAt, decision, attempt, content, usage }) }];
  } catch (error) {
    if (ended) throw error;
    ended = true;
    await endBadly({ attempt, stopping }, error, usedOf(source, parts.tokens()));
    if (!(error instanceof ProviderError)) throw error;
    const end = error.kind === "aborted" ? revocationOf(clientGone) : streamBroke(error.kind);
    if (end === null) return;
    recorder.broke(end.code);
    yield [{ kind: "error", error: end }];
  } finally {
    // The reader left between two parts.
    if (!ended) {
      await endBadly({ attempt, stopping }, new ProviderError("aborted"), usedOf(source, parts.tokens()));
      await source.close();
    }
  }
}

/** Stops what still runs. */
async function endBadly({ attempt, stopping }: Stoppable, error: unknown, used: Used): Promise<void> {
  stopping.abort(error);
  await attempt.endBadly(error, used);
}

/** What a provider said before it broke off counts for the input; of the output it knows less than what came. */
function usedOf(source: Source, producedTokens: number): Used {
  const said = source.usage();
  return {
    reported: said?.isFinal === true ? said.usage : null,
    inputTokens: said?.usage.inputTokens ?? null,
    outputTokens: Math.max(producedTokens, said?.usage.outputTokens ?? 0),
  };
}

/** The provider's events with a limit on each wait, and what they said beside the answer. */
interface Source {
  /** What has come; null: the regular end. Not called while the reader is slow, so that only the provider's silence counts. */
  next(): Promise<readonly ChatEvent[] | null>;
  contentCame(): void;
  /**
   * Whatever came, it was not silence: a model that thinks between two pieces, or writes one long argument of a call, goes on for
   * minutes with pings alone.
   */
  readonly heard: () => void;
  /** For a stream that is not read to its end. */
  close(): Promise<void>;
  usage(): { readonly usage: ChatUsage; readonly isFinal: boolean } | null;
  providerRequestId(): string | null;
}

function createSource({ attempt, stopping }: Stoppable, firstContentTimeoutMs: number, idleMs: number): Source {
  let waiting = false;
  /** Begun by whoever reads, so that what goes wrong in its beginning is met there. */
  let iterator: AsyncIterator<readonly ChatEvent[]> | null = null;
  const tooLate = () => {
    if (waiting) stopping.abort(new ProviderError("timeout"));
  };
  // One wait for the first content, whatever else comes before it; then one for each sign of life.
  const firstContent = setTimeout(tooLate, firstContentTimeoutMs);
  firstContent.unref();
  let idle: NodeJS.Timeout | null = null;
  let usage: ReturnType<Source["usage"]> = null;
  let providerRequestId: string | null = null;
  const stopTimers = () => {
    clearTimeout(firstContent);
    if (idle !== null) clearTimeout(idle);
  };
  return {
    next: async () => {
      idle?.refresh();
      waiting = true;
      try {
        iterator ??= attempt.provider.stream(attempt.plan, attempt.io)[Symbol.asyncIterator]();
        const result = await iterator.next();
        if (result.done === true) {
          stopTimers();
          return null;
        }
        for (const event of result.value) {
          if (event.type === "open") ({ providerRequestId } = event);
          if (event.type === "usage") usage = event;
        }
        return result.value;
      } catch (error) {
        stopTimers();
        throw error;
      } finally {
        waiting = false;
      }
    },
    contentCame: () => {
      clearTimeout(firstContent);
      idle = setTimeout(tooLate, idleMs);
      idle.unref();
    },
    heard: () => void idle?.refresh(),
    close: async () => {
      stopTimers();
      await iterator?.return?.().catch(() => undefined);
    },
    usage: () => usage,
    providerRequestId: () => providerRequestId,
  };
}

/** One that lacks its receipts and is over before anything of it was sent is a failure like any other: the next target is tried. */
function requireOfEmpty(request: ChatRequest, first: readonly ChatEvent[]): void {
  for (const event of first) {
    if (event.type === "text" || event.type === "tool_call") return;
    if (event.type === "finish") requireReceipts(request, { text: "", toolCalls: [], finishReason: event.reason });
  }
}

/** What makes the status line go out: a piece of the answer, or the regular end of an empty one. */
function isContent(event: ChatEvent): boolean {
  return event.type === "text" || event.type === "tool_call" || event.type === "finish";
}
