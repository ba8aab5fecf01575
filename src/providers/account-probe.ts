// Tests an account's credential with one free, read-only request, and lists the account's models if the provider reports them [providers.test-question]. Each
// adapter defines the request and parses the answer. `admin/` interprets the result.
import type { z } from "zod";
import { MODEL_PATTERN } from "../contract/names.ts";
import { type FailureKind, type Io, ProviderError, type WireRequest } from "./io.ts";
import { type WireReply } from "./wire/wire-reply.ts";
import { failedReply, readJsonReply } from "./wire/read-reply.ts";

export interface ListedModel {
  readonly id: string;
  /** Another name of the same model. */
  readonly alias: string | null;
  /** First day of refusal, as `2027-02-26`. Null: no end is announced. Undefined: the provider lists no ends. */
  readonly endsOn?: string | null;
}

export interface ListedModels {
  readonly models: readonly ListedModel[];
  /** The list is complete: a model that is not in it does not exist there. */
  readonly isWhole: boolean;
}

export type AccountAnswer =
  /** `listed` is null if the provider does not report an account's models. */
  | { readonly kind: "accepted"; readonly status: number; readonly listed: ListedModels | null }
  /** The server answers without a credential, so the list is valid and says nothing about the credential. */
  | { readonly kind: "open"; readonly status: number; readonly listed: ListedModels | null }
  /** whisper.cpp's server, which has neither models nor credentials. `path` is its transcription endpoint, null if none was found. */
  | { readonly kind: "whisper_cpp"; readonly status: number; readonly path: string | null }
  /** Models on this machine, which need no account. */
  | {
      readonly kind: "local";
      readonly status: number;
      readonly isEngineInstalled: boolean;
      readonly listed: ListedModels;
    }
  /** The credential may not make this request, but it may still be valid for calls. */
  | { readonly kind: "restricted"; readonly status: number; readonly code: string | null };

export interface AccountProbe {
  /** Path of the request, after the base URL. */
  readonly path: string;
  readonly listsModels: boolean;
  /** The list has the days on which models end. */
  readonly listsEnds: boolean;
  /** Throws a `ProviderError` for any other answer. */
  ask(io: Io): Promise<AccountAnswer>;
}

interface Question extends Pick<WireRequest, "path" | "query"> {
  readonly headers: (credential: string | null) => Readonly<Record<string, string>>;
  /** Parses a success into the model list. Null: the protocol is right, but it reports no models. Undefined: another kind of answer. */
  readonly read: (body: unknown) => ListedModels | null | undefined;
  readonly listsModels: boolean;
  readonly listsEnds?: true;
  /** How a 401 reports that the credential is valid and lacks a permission. A 403 always means that. */
  readonly restrictedSays?: RegExp;
  /** Some servers answer without a credential, so the request is repeated without it to see whether it was checked. */
  readonly mayBeOpen?: true;
  /** `io.send` unless the protocol needs more. */
  readonly send?: (io: Io, request: WireRequest) => Promise<WireReply>;
}

export function accountProbe(question: Question): AccountProbe {
  const { path, listsModels, listsEnds = false, mayBeOpen = false } = question;
  return {
    path,
    listsModels,
    listsEnds,
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
  return { kind: "accepted", status, listed: listed === null ? null : sanitizeNames(listed, io.credential) };
}

/** Failures that mean something is missing. Temporary failures prove nothing. */
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

/** Names are displayed, so anything else that a server may put there, and a credential that it echoes, is removed. */
function sanitizeNames({ models, isWhole }: ListedModels, credential: string | null): ListedModels {
  const plain = models
    .filter(({ id }) => MODEL_PATTERN.test(id) && (credential === null || !id.includes(credential)))
    .slice(0, MOST_MODELS);
  return { models: plain, isWhole: isWhole && plain.length === models.length };
}

/** For a provider that reports no models: an answer of this shape is the provider's own. */
export function withoutModels(shape: z.ZodType): Question["read"] {
  return (body) => (shape.safeParse(body).success ? null : undefined);
}

/** Entries without a name are skipped. */
export function modelsIn(
  entries: readonly unknown[],
  nameOf: (entry: Readonly<Record<string, unknown>>) => unknown,
  aliasOf: (id: string) => string | null = () => null,
  endOf?: (entry: Readonly<Record<string, unknown>>) => unknown,
): readonly ListedModel[] {
  return entries.flatMap((entry) => {
    if (typeof entry !== "object" || entry === null) return [];
    const record = entry as Readonly<Record<string, unknown>>;
    const name = nameOf(record);
    if (typeof name !== "string") return [];
    const end = endOf === undefined ? {} : { endsOn: dayOf(endOf(record)) };
    return [{ id: name, alias: aliasOf(name), ...end }];
  });
}

const DAY = /^\d{4}-\d\d-\d\d/u;

/** The day of a date or a time. Null for anything else. */
function dayOf(value: unknown): string | null {
  const day = typeof value === "string" ? DAY.exec(value)?.[0] : undefined;
  return day === undefined || Number.isNaN(Date.parse(day)) ? null : day;
}
