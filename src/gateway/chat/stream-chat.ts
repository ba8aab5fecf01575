// Streams a chat: falls back until a provider's first content and never after it, and ends a broken stream with one error part. A disconnect stops the
// provider, and usage is always recorded [chat.stream-first-content] [chat.stream-broken].
import { newId } from "../../contract/ids.ts";
import type { ChatEvent, ChatRequest, ChatUsage, Reasoning } from "../../providers/chat/chat-provider.ts";
import { ProviderError } from "../../providers/io.ts";
import { revocationOf } from "../calls/attempt-end.ts";
import { createAnswerParts, appendReasoning } from "./answer-parts.ts";
import { requireReceipts } from "./chat-content.ts";
import { attemptWarnings, chatAnswer } from "./chat-answer.ts";
import { type ChatAttempt, openAttempt, type TokensUsed, usageOf } from "./chat-attempt.ts";
import type { ChatCandidate, DecidedChat, ChatCall, ChatStream, ChatStreamPart } from "./chat-call.ts";
import { streamBroke } from "../calls/judge-failure.ts";
import { routingFacts } from "../routing-facts.ts";
import { firstToServe } from "./first-to-serve.ts";
import type { GatewayServices } from "../services.ts";

/** A stream has no overall deadline; the connection's `timeout_seconds` bounds it. */
const NO_DEADLINE_MS = Number.MAX_SAFE_INTEGER;

interface Stoppable {
  readonly attempt: ChatAttempt;
  /** Stops the call. A `ProviderError` as its reason determines the kind of failure. */
  readonly stopping: AbortController;
}

/** A stream after its first content. */
interface OpenStream extends Stoppable {
  readonly source: Source;
  /** The events that were received with it. */
  readonly first: readonly ChatEvent[];
}

export async function openChatStream(
  services: GatewayServices,
  call: ChatCall,
  decision: DecidedChat,
): Promise<ChatStream> {
  const openStream = await firstToServe(services, call, decision, { slot: null, hasTime: () => true }, (candidate) =>
    openOne(services, call, decision, candidate),
  );
  return {
    simulated: openStream.attempt.billing.billingClass === "simulated",
    facts: routingFacts({
      ...decision.purpose,
      warnings: [...decision.warnings, ...attemptWarnings(openStream.attempt, null)],
    }),
    parts: relay(services, call, decision, openStream),
  };
}

async function openOne(
  services: GatewayServices,
  call: ChatCall,
  decision: DecidedChat,
  candidate: ChatCandidate,
): Promise<OpenStream> {
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
  /** Held back until the first content, because reasoning does not count as content. */
  let reasoning: Reasoning | null = null;
  try {
    for (;;) {
      const events = await source.next();
      if (events === null) throw new ProviderError("bad_reply", { reason: "no_finish" });
      if (events.some(isContent)) {
        if (!source.hasModel()) attempt.judgeModel(null);
        requireReceiptsIfEmpty(decision.wanted, events);
        source.contentCame();
        const first = reasoning === null ? events : [{ type: "reasoning", reasoning } as const, ...events];
        return { attempt, stopping, source, first };
      }
      for (const event of events)
        if (event.type === "reasoning") reasoning = appendReasoning(reasoning, event.reasoning);
    }
  } catch (error) {
    await endBadly({ attempt, stopping }, error, usedOf(source, 0), reasoning === null ? [] : [reasoning.text]);
    throw error;
  }
}

async function* relay(
  services: GatewayServices,
  { recorder, clientGone }: ChatCall,
  decision: DecidedChat,
  { attempt, stopping, source, first }: OpenStream,
): AsyncGenerator<readonly ChatStreamPart[]> {
  const id = newId("chat");
  const createdAt = services.now();
  const parts = createAnswerParts();
  let ended = false;
  try {
    yield [{ kind: "started", id, createdAt: createdAt.toISOString() }];
    for (let events: readonly ChatEvent[] | null = first; events !== null; events = await source.next()) {
      const newParts = events.flatMap((event) => parts.add(event) ?? []);
      if (newParts.length > 0) yield newParts;
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
    await endBadly({ attempt, stopping }, error, usedOf(source, parts.tokens()), parts.texts());
    if (!(error instanceof ProviderError)) throw error;
    const end = error.kind === "aborted" ? revocationOf(clientGone) : streamBroke(error.kind);
    if (end === null) return;
    recorder.broke(end.code);
    yield [{ kind: "error", error: end }];
  } finally {
    // The reader stopped between two parts.
    if (!ended) {
      await endBadly({ attempt, stopping }, new ProviderError("aborted"), usedOf(source, parts.tokens()));
      await source.close();
    }
  }
}

/** Aborts the call before it settles it. */
async function endBadly(
  { attempt, stopping }: Stoppable,
  error: unknown,
  used: TokensUsed,
  received: readonly string[] = [],
): Promise<void> {
  stopping.abort(error);
  await attempt.endBadly(error, used, received);
}

/** Usage that a provider reported before it broke off counts for the input. For the output the higher of its figure and our estimate counts. */
function usedOf(source: Source, producedTokens: number): TokensUsed {
  const usage = source.usage();
  return {
    reported: usage?.isFinal === true ? usage.usage : null,
    inputTokens: usage?.usage.inputTokens ?? null,
    outputTokens: Math.max(producedTokens, usage?.usage.outputTokens ?? 0),
  };
}

/** The provider's events with a limit on each wait, and the usage and request id that they carry. */
interface Source {
  /** The next events. Null: the regular end. Not called while the reader is slow, so that only the provider's silence counts. */
  next(): Promise<readonly ChatEvent[] | null>;
  contentCame(): void;
  /** Any bytes reset the idle timer: a model that thinks between two pieces, or writes one long argument of a call, may send only pings for minutes. */
  readonly heard: () => void;
  /** For a stream that is not read to its end. */
  close(): Promise<void>;
  /** The answer has reported its model, which was judged. */
  hasModel(): boolean;
  usage(): { readonly usage: ChatUsage; readonly isFinal: boolean } | null;
  providerRequestId(): string | null;
}

function createSource({ attempt, stopping }: Stoppable, firstContentTimeoutMs: number, idleMs: number): Source {
  let waiting = false;
  /** Created by the first `next`, so that a failure to start is thrown there. */
  let iterator: AsyncIterator<readonly ChatEvent[]> | null = null;
  const onTimeout = () => {
    if (waiting) stopping.abort(new ProviderError("timeout"));
  };
  // One timer for the first content, whatever precedes it; afterwards an idle timer that any bytes reset.
  const firstContent = setTimeout(onTimeout, firstContentTimeoutMs);
  firstContent.unref();
  let idle: NodeJS.Timeout | null = null;
  let usage: ReturnType<Source["usage"]> = null;
  let providerRequestId: string | null = null;
  let hasModel = false;
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
          if (event.type === "model") {
            hasModel = true;
            attempt.judgeModel(event.name);
          }
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
      idle = setTimeout(onTimeout, idleMs);
      idle.unref();
    },
    heard: () => void idle?.refresh(),
    close: async () => {
      stopTimers();
      await iterator?.return?.().catch(() => undefined);
    },
    usage: () => usage,
    hasModel: () => hasModel,
    providerRequestId: () => providerRequestId,
  };
}

/** An answer that ends before anything was sent and lacks its receipts is an ordinary failure: the next target is tried. */
function requireReceiptsIfEmpty(request: ChatRequest, first: readonly ChatEvent[]): void {
  for (const event of first) {
    if (event.type === "text" || event.type === "tool_call") return;
    if (event.type === "finish") requireReceipts(request, { text: "", toolCalls: [], finishReason: event.reason });
  }
}

/** Content commits the status line: a piece of the answer, or the regular end of an empty one. */
function isContent(event: ChatEvent): boolean {
  return event.type === "text" || event.type === "tool_call" || event.type === "finish";
}
