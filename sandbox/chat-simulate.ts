// What the sandbox "answers" in a chat: counted facts and nothing else, never invented prose [providers.sandbox-honest]. With tools it calls
// them, with arguments that fit their schema [providers.sandbox-answers]. Every chat protocol takes its answer from here.
import { sampleOf } from "./schema-sample.ts";
import type { Alteration } from "./wire.ts";

export interface ChatAsked {
  readonly messages: number;
  /** All the text of the conversation; its words are counted. */
  readonly text: string;
  readonly images: number;
  readonly audios: number;
  readonly results: number;
  /** The last thing said is a tool's result: the answer is words. */
  readonly endsWithResult: boolean;
  readonly tools: readonly { readonly name: string; readonly schema: unknown }[];
  readonly choice: { readonly kind: "auto" | "none" | "required" } | { readonly kind: "tool"; readonly name: string };
  readonly isParallel: boolean;
  readonly format: { readonly kind: "text" | "json" } | { readonly kind: "schema"; readonly schema: unknown };
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
}

export interface SimulatedChat {
  /** Joined, the whole text. */
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly finish: "stop" | "length" | "calls" | "withheld";
  readonly stopSequence: string | null;
  /** null: the answer says nothing of it. */
  readonly usage: { readonly input: number; readonly output: number } | null;
}

const TOKENS_PER_MEDIUM = 100;

export function simulateChat(asked: ChatAsked, alteration: Alteration): SimulatedChat {
  if (alteration.hugeBytes !== null) return hugeChat(asked, alteration.hugeBytes);
  const calls = alteration.drops.has("tool_calls") ? [] : callsOf(asked);
  const spoken = calls.length > 0 ? "" : textOf(asked, alteration);
  const stopped = untilStop(spoken, asked.stop);
  const all = stopped.text.match(/\s*\S+\s*$|\s*\S+/gu) ?? [];
  const pieces = alteration.isWithheld ? [] : all.slice(0, asked.maxTokens ?? all.length);
  const isCut = pieces.length < all.length;
  const output = pieces.length + calls.reduce((sum, call) => sum + 1 + JSON.stringify(call.args).length, 0);
  const input = wordsIn(asked.text) + TOKENS_PER_MEDIUM * (asked.images + asked.audios);
  return {
    pieces,
    calls: alteration.isWithheld ? [] : calls,
    finish: alteration.isWithheld ? "withheld" : calls.length > 0 ? "calls" : isCut ? "length" : "stop",
    stopSequence: isCut ? null : stopped.sequence,
    usage: alteration.drops.has("usage") ? null : { input, output },
  };
}

const FILLER = "[simulated filler] ".repeat(216);

/** More than anybody asked for, in pieces of four kilobytes. */
function hugeChat(asked: ChatAsked, bytes: number): SimulatedChat {
  const pieces = Array.from({ length: Math.ceil(bytes / FILLER.length) }, () => FILLER);
  const usage = { input: wordsIn(asked.text), output: 432 * pieces.length };
  return { pieces, calls: [], finish: "stop", stopSequence: null, usage };
}

function callsOf({ tools, choice, isParallel, endsWithResult }: ChatAsked): SimulatedChat["calls"] {
  if (tools.length === 0 || choice.kind === "none" || (choice.kind === "auto" && endsWithResult)) return [];
  const wanted = choice.kind === "tool" ? tools.filter((tool) => tool.name === choice.name) : tools;
  return wanted.slice(0, isParallel ? wanted.length : 1).map(({ name, schema }) => ({ name, args: sampleOf(schema) }));
}

function textOf(asked: ChatAsked, { isEmpty, drops }: Alteration): string {
  if (isEmpty) return "";
  const format = drops.has("response_format") ? ({ kind: "text" } as const) : asked.format;
  if (format.kind === "schema") return JSON.stringify(sampleOf(format.schema), null, 1);
  if (format.kind === "json")
    return JSON.stringify({ simulated: true, messages: asked.messages, words: wordsIn(asked.text) }, null, 1);
  const facts = [
    counted(asked.messages, "message"),
    counted(wordsIn(asked.text), "word"),
    ...(asked.images > 0 ? [counted(asked.images, "image")] : []),
    ...(asked.audios > 0 ? [counted(asked.audios, "audio part")] : []),
    ...(asked.results > 0 ? [counted(asked.results, "tool result")] : []),
  ];
  return `[simulated reply, ${facts.join(", ")}]`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => word !== "").length;

function untilStop(text: string, stop: readonly string[]): { readonly text: string; readonly sequence: string | null } {
  const found = stop.flatMap((sequence) => {
    const at = text.indexOf(sequence);
    return at === -1 || sequence === "" ? [] : [{ at, sequence }];
  });
  const first = found.toSorted((one, other) => one.at - other.at)[0];
  return first === undefined ? { text, sequence: null } : { text: text.slice(0, first.at), sequence: first.sequence };
}

/** JSON text as models stream it: a few characters at a time. */
export const inPieces = (text: string, length = 8): readonly string[] =>
  text.match(new RegExp(`.{1,${length}}`, "gsu")) ?? [];
