// Parses Gemini's chat replies: whole ones, and streams of fragments with the shape of a whole one.
import { z } from "zod";
import { signedId } from "../../contract/chat/tool-call-signature.ts";
import type { ChatEvent, ChatResult, ChatToolCall, ChatUsage } from "../chat/chat-provider.ts";
import { answeredBy, modelField } from "../answered-model.ts";
import { argumentsSent, partsOf, tokens, uniqueCallId, usageOf, writtenArguments } from "../chat/chat-values.ts";
import type { EventReader } from "../wire/chat-wire.ts";
import {
  type ChatEnding,
  createFinishTracker,
  endingOf,
  finishFields,
  type FinishTracker,
  UNNAMED_ENDING,
} from "../chat/finish-reasons.ts";
import { ProviderError } from "../io.ts";
import { type JsonReply, requestIdOf } from "../wire/read-reply.ts";

const part = z.object({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z
    .object({
      id: z.string().optional(),
      name: z.string().min(1),
      args: argumentsSent.nullish(),
    })
    .optional(),
});

const fragment = z.object({
  candidates: partsOf(
    z.object({
      content: z.object({ parts: partsOf(part).nullish() }).nullish(),
      finishReason: z.string().nullish(),
    }),
  ).nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z
    .object({
      promptTokenCount: tokens,
      toolUsePromptTokenCount: tokens,
      candidatesTokenCount: tokens,
      thoughtsTokenCount: tokens,
      totalTokenCount: tokens,
      cachedContentTokenCount: tokens,
    })
    .nullish()
    .catch(undefined),
});
type Fragment = z.infer<typeof fragment>;

/** `STOP` also ends an answer with calls. */
function endingFor(finish: FinishTracker, hasCalls: boolean): ChatEnding {
  const reason = finish.last();
  const ending = reason === null ? UNNAMED_ENDING : endingOf(reason, finish.hasContent());
  return ending.reason === "stop" && hasCalls ? { ...ending, reason: "tool_calls" } : ending;
}

export function readGeminiAnswer({ body }: JsonReply): ChatResult {
  const reader = geminiEvents();
  let text = "";
  const toolCalls: ChatToolCall[] = [];
  let usage: ChatUsage | null = null;
  for (const event of reader.read(body)) {
    if (event.type === "text") text += event.text;
    if (event.type === "tool_call")
      toolCalls.push({ id: event.id ?? "", name: event.name ?? "", arguments: event.arguments });
    if (event.type === "usage") usage = event.usage;
  }
  const end = reader.end(false);
  if (end === null) throw new ProviderError("bad_reply", { reason: "no_finish" });
  return {
    text: text === "" && toolCalls.length > 0 ? null : text,
    toolCalls,
    ...finishFields(end.ending),
    usage,
    providerRequestId: requestIdOf(responseId.parse(body), "responseId"),
    ...answeredBy(reader.modelIn(body)),
  };
}

/** The request id is only in the body. */
const responseId = z.object({ responseId: z.string() }).catch({ responseId: "" });

/** A call always arrives in one piece. */
export function geminiEvents(): EventReader {
  let calls = 0;
  const ids = new Set<string>();
  const finish = createFinishTracker();
  let last: ChatUsage | null = null;

  function readPart(piece: z.infer<typeof part>): readonly ChatEvent[] {
    if (piece.functionCall !== undefined) {
      const { id, name, args } = piece.functionCall;
      return [
        {
          type: "tool_call",
          index: calls++,
          id: signedId(uniqueCallId(ids, id), piece.thoughtSignature),
          name,
          arguments: writtenArguments(args ?? {}),
        },
      ];
    }
    if (piece.thought === true || piece.text === undefined || piece.text === "") return [];
    return [{ type: "text", text: piece.text }];
  }

  function usageEvents(reported: Fragment["usageMetadata"]): readonly ChatEvent[] {
    const usage = toUsage(reported);
    // Usage before the end does not count what was generated since, though it may be the last.
    const isFinal = finish.last() !== null;
    // Each fragment repeats the usage: emitted only when it changes, and at the end.
    if (usage === null || (!isFinal && JSON.stringify(usage) === JSON.stringify(last))) return [];
    last = usage;
    return [{ type: "usage", usage, isFinal }];
  }

  return {
    read: (body) => {
      const parsed = fragment.safeParse(body);
      if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
      const { candidates, promptFeedback, usageMetadata } = parsed.data;
      const candidate = candidates?.[0];
      // A blocked prompt is answered without any candidate.
      if (promptFeedback?.blockReason != null) finish.reason("PROHIBITED_CONTENT");
      const events = (candidate?.content?.parts ?? []).flatMap(readPart);
      if (events.length > 0) finish.content();
      finish.reason(candidate?.finishReason);
      return [...events, ...usageEvents(usageMetadata)];
    },
    modelIn: (body) => modelField(body, "modelVersion"),
    isOver: () => finish.isOver(),
    end: (isMarked) => {
      const hasEnd = finish.last() !== null || (isMarked && finish.hasContent());
      return hasEnd ? { ending: endingFor(finish, calls > 0), rest: [] } : null;
    },
  };
}

/** Output includes thoughts. A missing output count means zero, unless the total is larger. */
function toUsage(reported: Fragment["usageMetadata"]): ChatUsage | null {
  if (reported?.promptTokenCount === undefined) return null;
  const { candidatesTokenCount: written, thoughtsTokenCount: thought, totalTokenCount: total } = reported;
  const input = reported.promptTokenCount + (reported.toolUsePromptTokenCount ?? 0);
  const isSilent = written === undefined && thought === undefined;
  const output = isSilent ? Math.max(0, (total ?? input) - input) : (written ?? 0) + (thought ?? 0);
  return usageOf(input, output, reported.cachedContentTokenCount);
}
