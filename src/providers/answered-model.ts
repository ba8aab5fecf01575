// Whether an answer is by the model that was asked: the rules of names of each provider, and the receipt that follows [providers.answered-model]. Pure.
import type { Receipt } from "./receipt.ts";

/** How the models of one provider are named in its answers. The same name is always the same model. */
export interface ModelNames {
  /** Where this is documented, with the date of the evidence. */
  readonly source: string;
  /** Names that are the same model in an answer. */
  readonly variants: readonly NameVariant[];
  /** Servers spell one model in several ways: case, the path in front of the name, a tag or a file ending behind it. */
  readonly isLoose?: true;
}

interface NameVariant {
  /** The asked name. Its group is the part that the answer repeats. */
  readonly asked: RegExp;
  /** What may precede that part in the answer. Absent: nothing. */
  readonly head?: RegExp;
  /** What may follow it. */
  readonly tail: RegExp;
}

const DATE = "(?:19|20)\\d\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const DIGITS = "(?:19|20)\\d\\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])";
const ANY = /^(.+)$/u;

export const MODEL_NAMES = {
  openai: {
    source:
      "npm openai@7.57.0, shared.ts (2026-11-13): an alias is answered by its snapshot, gpt-4o by gpt-4o-2024-08-06",
    variants: [{ asked: ANY, tail: new RegExp(`^-${DATE}$`, "u") }],
  },
  anthropic: {
    source:
      "npm @anthropic-ai/sdk@1.14.0, deprecated-models.ts (2026-11-24): claude-sonnet-4-5 and -20250929 are one model",
    variants: [{ asked: ANY, tail: new RegExp(`^-${DIGITS}$`, "u") }],
  },
  // No suffix such as `-001` is documented for current models, so such a name is another model.
  gemini: {
    source:
      "npm @google/genai@3.3.0, modelVersion (2026-11-12); ai.google.dev, deprecations (2026-09-15): aliases move",
    variants: [
      { asked: /^(?:models\/)?(.+)$/u, head: /^(?:models\/)?/u, tail: /^$/u },
      { asked: /^gemini-(.+)-latest$/u, head: /^(?:models\/)?gemini-\d+(?:\.\d+)?-/u, tail: /^$/u },
    ],
  },
  mistral: {
    source:
      "platform-docs-public@222f4ba, model lifecycle (2026-08-21): -latest and name-major move, name-major-minor is pinned",
    variants: [
      { asked: /^(.+)-latest$/u, tail: /^-\d+(?:-\d+)?$/u },
      { asked: /^(.+-\d)$/u, tail: /^-\d+$/u },
    ],
  },
  assemblyai: { source: "npm assemblyai@4.41.5, speech_model_used (2026-09-26)", variants: [] },
  elevenlabs: {
    source: "npm @elevenlabs/elevenlabs-js@2.73.0, config of session_started (2026-10-15); files report no model",
    variants: [],
  },
  compatible: {
    source:
      "none: servers of this protocol write what they want; a proxy may answer with the names of openai or anthropic",
    variants: [{ asked: ANY, tail: new RegExp(`^-(?:${DATE}|${DIGITS})$`, "u") }],
    isLoose: true,
  },
} as const satisfies Readonly<Record<string, ModelNames>>;

export function isSameModel(names: ModelNames, asked: string, answered: string): boolean {
  if (asked === answered) return true;
  if (names.isLoose !== true) return isVariant(names, asked, answered);
  const [wanted, given] = [looseName(asked), looseName(answered)];
  if (given.base === "" || !canBeSamePath(wanted.path, given.path)) return false;
  return wanted.base === given.base || isVariant(names, wanted.base, given.base);
}

function isVariant({ variants }: ModelNames, asked: string, answered: string): boolean {
  return variants.some(({ asked: pattern, head, tail }: NameVariant) => {
    const part = pattern.exec(asked)?.[1];
    const rest = head === undefined ? answered : answered.replace(head, "");
    if (part === undefined || !rest.startsWith(part)) return false;
    return (head === undefined || head.test(answered)) && tail.test(rest.slice(part.length));
  });
}

interface LooseName {
  /** Null: a path in the file system of the server, which is no part of the name. */
  readonly path: string | null;
  readonly base: string;
}

function looseName(name: string): LooseName {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/(?::latest|\.gguf)$/u, "");
  const end = plain.lastIndexOf("/") + 1;
  return { path: /^[/.~]/u.test(plain) ? null : plain.slice(0, end), base: plain.slice(end) };
}

/** A name without a path can be in any. */
function canBeSamePath(one: string | null, other: string | null): boolean {
  return one === null || other === null || one === "" || other === "" || one === other;
}

/** Recorded instead of a text that cannot be a model's name, because a server may write anything there. */
const NO_NAME = "(not a name)";

/** The model in a field of a reply or event. Null: none. */
export function modelField(body: unknown, field: "model" | "modelVersion"): string | null {
  return typeof body === "object" && body !== null && field in body
    ? reportedModel((body as Readonly<Record<string, unknown>>)[field])
    : null;
}

/** The part of a chat result. */
export function answeredBy(name: string | null): { readonly answeredModel?: string } {
  return name === null ? {} : { answeredModel: name };
}

/** The model that an answer reports, as it may be recorded. Null: it reports none. */
export function reportedModel(name: unknown): string | null {
  if (typeof name !== "string") return null;
  const plain = name.trim();
  if (plain === "") return null;
  return /^[\w.:/@+ -]{1,128}$/u.test(plain) ? plain : NO_NAME;
}

/**
 * Another model is tolerated unless the route requires the exact one [routing.exact-model]. An answer that reports none, although its protocol has a field for
 * it, proves nothing.
 */
export function modelReceipt(answered: string | null, isSame: (answered: string) => boolean): Receipt {
  const proof = { feature: "model", grade: "echoed", isTolerated: true } as const;
  return answered === null ? { ...proof, delivered: false } : { ...proof, delivered: isSame(answered), answered };
}

/** The answer is by another model than the one that was asked. */
export function isSubstitution(receipt: Receipt): receipt is Receipt & { readonly answered: string } {
  return receipt.feature === "model" && !receipt.delivered && receipt.answered !== undefined;
}
