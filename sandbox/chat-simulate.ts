// Simulates a chat answer for every protocol: counted facts, never invented prose [providers.sandbox-honest]. With tools it calls them, with arguments that
// match their schema [providers.sandbox-answers].
import { sampleOf } from "./wire/schema-sample.ts";
import type { Alteration } from "./wire/wire.ts";

export interface ChatAsked {
  readonly messages: number;
  /** All the text of the conversation, whose words are counted. */
  readonly text: string;
  readonly images: number;
  readonly audios: number;
  readonly results: number;
  /** The last message is a tool's result, so the answer is text. */
  readonly endsWithResult: boolean;
  readonly tools: readonly { readonly name: string; readonly schema: unknown }[];
  readonly choice: { readonly kind: "auto" | "none" | "required" } | { readonly kind: "tool"; readonly name: string };
  readonly isParallel: boolean;
  readonly format: { readonly kind: "text" | "json" } | { readonly kind: "schema"; readonly schema: unknown };
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
}

export interface SimulatedChat {
  /** Concatenated, the whole text. */
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly finish: "stop" | "length" | "calls" | "withheld";
  readonly stopSequence: string | null;
  /** Null: the answer contains no usage. */
  readonly usage: { readonly input: number; readonly output: number } | null;
}

const TOKENS_PER_MEDIUM = 100;

export function simulateChat(request: ChatAsked, alteration: Alteration): SimulatedChat {
  if (alteration.hugeBytes !== null) return hugeChat(request, alteration.hugeBytes);
  const calls = alteration.drops.has("tool_calls") ? [] : callsOf(request);
  const text = calls.length > 0 ? "" : textOf(request, alteration);
  const stopResult = cutAtStop(text, request.stop);
  const all = stopResult.text.match(/\s*\S+\s*$|\s*\S+/gu) ?? [];
  const pieces = alteration.isWithheld ? [] : all.slice(0, request.maxTokens ?? all.length);
  const isCut = pieces.length < all.length;
  const output = pieces.length + calls.reduce((sum, call) => sum + 1 + JSON.stringify(call.args).length, 0);
  const input = wordsIn(request.text) + TOKENS_PER_MEDIUM * (request.images + request.audios);
  return {
    pieces,
    calls: alteration.isWithheld ? [] : calls,
    finish: alteration.isWithheld ? "withheld" : calls.length > 0 ? "calls" : isCut ? "length" : "stop",
    stopSequence: isCut ? null : stopResult.sequence,
    usage: alteration.drops.has("usage") ? null : { input, output },
  };
}

const FILLER = "[simulated filler] ".repeat(216);

/** An answer of a given size, more than was requested, in pieces of four kilobytes. */
function hugeChat(request: ChatAsked, bytes: number): SimulatedChat {
  const pieces = Array.from({ length: Math.ceil(bytes / FILLER.length) }, () => FILLER);
  const usage = { input: wordsIn(request.text), output: 432 * pieces.length };
  return { pieces, calls: [], finish: "stop", stopSequence: null, usage };
}

function callsOf({ tools, choice, isParallel, endsWithResult }: ChatAsked): SimulatedChat["calls"] {
  if (tools.length === 0 || choice.kind === "none" || (choice.kind === "auto" && endsWithResult)) return [];
  const candidates = choice.kind === "tool" ? tools.filter((tool) => tool.name === choice.name) : tools;
  return candidates
    .slice(0, isParallel ? candidates.length : 1)
    .map(({ name, schema }) => ({ name, args: sampleOf(schema) }));
}

function textOf(request: ChatAsked, { isEmpty, drops }: Alteration): string {
  if (isEmpty) return "";
  const format = drops.has("response_format") ? ({ kind: "text" } as const) : request.format;
  if (format.kind === "schema") return JSON.stringify(sampleOf(format.schema), null, 1);
  if (format.kind === "json")
    return JSON.stringify({ simulated: true, messages: request.messages, words: wordsIn(request.text) }, null, 1);
  const facts = [
    countOf(request.messages, "message"),
    countOf(wordsIn(request.text), "word"),
    ...(request.images > 0 ? [countOf(request.images, "image")] : []),
    ...(request.audios > 0 ? [countOf(request.audios, "audio part")] : []),
    ...(request.results > 0 ? [countOf(request.results, "tool result")] : []),
  ];
  return `[simulated reply, ${facts.join(", ")}]`;
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => word !== "").length;

function cutAtStop(text: string, stop: readonly string[]): { readonly text: string; readonly sequence: string | null } {
  const matches = stop.flatMap((sequence) => {
    const at = text.indexOf(sequence);
    return at === -1 || sequence === "" ? [] : [{ at, sequence }];
  });
  const first = matches.toSorted((one, other) => one.at - other.at)[0];
  return first === undefined ? { text, sequence: null } : { text: text.slice(0, first.at), sequence: first.sequence };
}

/** Splits JSON text as models stream it: a few characters at a time. */
export const inPieces = (text: string, length = 8): readonly string[] =>
  text.match(new RegExp(`.{1,${length}}`, "gsu")) ?? [];
