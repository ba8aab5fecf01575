// The one free, read-only request that shows whether a provider accepts an account's credential, and which models the account has
// [providers.test-question]. Each adapter says which request that is and how its answer reads; `admin/` says what an answer means.
import type { z } from "zod";
import { MODEL_PATTERN } from "../contract/names.ts";
import { type FailureKind, type Io, ProviderError, type WireRequest } from "./io.ts";
import { type WireReply } from "./wire-reply.ts";
import { failedReply, readJsonReply } from "./read-reply.ts";

export interface ListedModel {
  readonly id: string;
  /** Another name that it is called by. */
  readonly alias: string | null;
}

export interface ListedModels {
  readonly models: readonly ListedModel[];
  /** What is not among them is not there. */
  readonly isWhole: boolean;
}

export type AccountAnswer =
  /** `listed` is null where the provider does not say which models an account has. */
  | { readonly kind: "accepted"; readonly status: number; readonly listed: ListedModels | null }
  /** Anybody is answered the same: what the account lists is known, and nothing of the credential. */
  | { readonly kind: "open"; readonly status: number; readonly listed: ListedModels | null }
  /** whisper.cpp's server, which has neither models nor credentials; `path` is where it takes audio, null: at no known one. */
  | { readonly kind: "whisper_cpp"; readonly status: number; readonly path: string | null }
  /** It may not ask this, and may be fit for calls all the same. */
  | { readonly kind: "restricted"; readonly status: number; readonly code: string | null };

export interface AccountProbe {
  /** Of the request, behind the base URL. */
  readonly path: string;
  readonly listsModels: boolean;
  /** Throws a `ProviderError` for any other answer. */
  ask(io: Io): Promise<AccountAnswer>;
}

interface Question extends Pick<WireRequest, "path" | "query"> {
  readonly headers: (credential: string | null) => Readonly<Record<string, string>>;
  /** Of a success: what it lists; null: it is of the protocol and says nothing of models; undefined: it is something else. */
  readonly read: (body: unknown) => ListedModels | null | undefined;
  readonly listsModels: boolean;
  /** How a 401 says that the credential is known and lacks a permission; a 403 says so by itself. */
  readonly restrictedSays?: RegExp;
  /** Some servers tell anybody: asked once more without the credential, what they answer then shows whether it counted. */
  readonly mayBeOpen?: true;
  /** `io.send` unless the protocol needs more. */
  readonly send?: (io: Io, request: WireRequest) => Promise<WireReply>;
}

export function accountProbe(question: Question): AccountProbe {
  const { path, listsModels, mayBeOpen = false } = question;
  return {
    path,
    listsModels,
    ask: async (io) => {
      const answer = await ask(question, io, io.credential);
      if (!mayBeOpen || answer.kind !== "accepted" || io.credential === null) return answer;
      return (await needsCredential(question, io)) ? answer : { ...answer, kind: "open" };
    },
  };
}

async function ask(question: Question, io: Io, credential: string | null): Promise<AccountAnswer> {
  const { path, query = [], headers, read, send = (via, request) => via.send(request) } = question;
  const reply = await send(io, { method: "GET", path, query, headers: headers(credential), isFree: true });
  const { status } = reply;
  if (isRestricted(reply, question))
    return { kind: "restricted", status, code: failedReply(reply, io.credential).reason };
  const listed = read(readJsonReply(reply, io.credential).body);
  if (listed === undefined) throw new ProviderError("bad_reply", { status, reason: "missing_fields" });
  return { kind: "accepted", status, listed: listed === null ? null : withPlainNames(listed, io.credential) };
}

/** What says that something is missing; trouble says nothing. */
const WITHOUT_IT: ReadonlySet<FailureKind> = new Set(["unauthorized", "rejected", "payment", "not_found"]);

async function needsCredential(question: Question, io: Io): Promise<boolean> {
  try {
    return (await ask(question, io, null)).kind === "restricted";
  } catch (error) {
    if (error instanceof ProviderError) return WITHOUT_IT.has(error.kind);
    throw error;
  }
}

function isRestricted({ status, text }: WireReply, { restrictedSays }: Question): boolean {
  return status === 403 || (status === 401 && restrictedSays?.test(text) === true);
}

const MOST_MODELS = 10_000;

/** Names are shown: nothing else that a server may write in their place, and no credential that it echoes, passes for one. */
function withPlainNames({ models, isWhole }: ListedModels, credential: string | null): ListedModels {
  const plain = models
    .filter(({ id }) => MODEL_PATTERN.test(id) && (credential === null || !id.includes(credential)))
    .slice(0, MOST_MODELS);
  return { models: plain, isWhole: isWhole && plain.length === models.length };
}

/** Of a provider that says nothing of models: the answer is its own if it has this shape. */
export function withoutModels(shape: z.ZodType): Question["read"] {
  return (body) => (shape.safeParse(body).success ? null : undefined);
}

/** Entries without a name are nobody's. */
export function modelsIn(
  entries: readonly unknown[],
  nameOf: (entry: Readonly<Record<string, unknown>>) => unknown,
  aliasOf: (id: string) => string | null = () => null,
): readonly ListedModel[] {
  return entries.flatMap((entry) => {
    const named = typeof entry === "object" && entry !== null ? nameOf(entry as Record<string, unknown>) : null;
    return typeof named === "string" ? [{ id: named, alias: aliasOf(named) }] : [];
  });
}
