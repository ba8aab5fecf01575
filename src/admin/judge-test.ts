// The outcome of a connection's test, and what to do about it [admin.test-outcome]. Pure: it contains nothing that a provider wrote except
// a code that is clearly one.
import type { ConnectionTest, TestOutcome } from "../contract/connection-test.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { AccountAnswer } from "../providers/account-probe.ts";
import type { ProviderError } from "../providers/io.ts";

type Judgement = Pick<ConnectionTest, "ok" | "outcome" | "message" | "status" | "code">;

interface Known {
  readonly hasCredential: boolean;
  readonly models: ConnectionTest["models"];
  readonly undeclared: readonly string[] | null;
}

/** `answer` is null where nothing was asked, for want of a credential. */
export function judgeTest(answer: AccountAnswer | ProviderError | null, known: Known): Judgement {
  if (answer === null) return judged("no_credential", NO_CREDENTIAL);
  if (answer instanceof Error) return failed(answer, known);
  const { kind, status } = answer;
  switch (kind) {
    case "accepted":
      return { ...judged("accepted", `${taken(known)} ${found(known)}`, { status }), ok: true };
    case "whisper_cpp":
      if (answer.path === null) return judged("unexpected", WHISPER_CPP_ELSEWHERE, { status });
      return known.hasCredential
        ? judged("unproven", `${whisperCpp(answer.path)} It has no credentials, so this one is not needed.`, { status })
        : { ...judged("accepted", whisperCpp(answer.path), { status }), ok: true };
    case "open":
      return judged("unproven", `${OPEN} ${found(known)}`, { status });
    case "restricted":
      return known.hasCredential
        ? judged("restricted", restricted(status), answer)
        : judged("refused", WANTS_CREDENTIAL, answer);
    default:
      return assertNever(kind);
  }
}

const NO_CREDENTIAL = "The connection has no credential, so nothing was sent. Give it one and test again.";
const OPEN =
  "Asked the same without the credential the server did not refuse it, so the credential was not put to the proof: try a call.";
const WANTS_CREDENTIAL = "The server wants a credential, and the connection has none. Give it one and test again.";

const WHISPER_CPP_ELSEWHERE =
  "whisper.cpp's server answers here, but takes audio neither at `/inference` nor at `/v1/audio/transcriptions`. Set `transcribe_path` in the target's settings to the path it was started with (`--inference-path`), behind `base_url`.";

function whisperCpp(path: string): string {
  return `whisper.cpp's server answers here and takes audio at \`${path}\`, which calls find by themselves: declare its models with \`dialect: whisper-cpp\`.`;
}

function judged(
  outcome: TestOutcome,
  message: string,
  { status = null, code = null }: { readonly status?: number | null; readonly code?: string | null } = {},
): Judgement {
  return { ok: false, outcome, message, status, code };
}

function taken({ hasCredential }: Known): string {
  return hasCredential ? "The provider takes the credential." : "The server answers without a credential.";
}

function found({ models, undeclared }: Known): string {
  if (undeclared === null) return "It does not say which models the account may use; the first call will.";
  if (models.length === 0)
    return `It lists ${count(undeclared.length, "model")}: declare those that routes are to name under \`models\`.`;
  return `It lists ${models.filter((model) => model.found === true).length} of the ${count(models.length, "model")} that routes can name here.`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function restricted(status: number): string {
  return `The provider does not let this credential ask (HTTP ${status}): it may be restricted, and fit for calls all the same. Allow it this question too, or try a call.`;
}

function failed(error: ProviderError, known: Known): Judgement {
  const { kind, status, reason: code } = error;
  const facts = { status, code };
  const http = status === null ? "" : ` (HTTP ${status})`;
  switch (kind) {
    case "unauthorized":
      if (status === null) return judged("refused", UNUSABLE, facts);
      return judged("refused", known.hasCredential ? refused(http) : WANTS_CREDENTIAL, facts);
    case "payment":
      return judged(
        "out_of_credit",
        `The provider knows the credential and wants to be paid${http}: top up the account.`,
        facts,
      );
    case "rate_limited":
      return judged(
        "busy",
        `The provider asks to wait${http}, which says nothing about the credential. Test again ${whenever(error)}.`,
        facts,
      );
    case "connect":
      return code === ADDRESS_REFUSED
        ? judged("address_refused", NOT_CALLED)
        : judged("unreachable", NO_CONNECTION, facts);
    case "timeout":
    // Nobody is left to read it.
    case "aborted":
      return judged("unreachable", NO_ANSWER, facts);
    case "unknown":
      return status === null ? judged("unreachable", BROKEN, facts) : judged("failing", failing(http), facts);
    case "server_error":
      return status !== null && status >= 500
        ? judged("failing", failing(http), facts)
        : judged("unexpected", unexpected(status, http), facts);
    case "not_found":
    case "rejected":
    case "bad_reply":
    case "feature_dropped":
      return judged("unexpected", unexpected(status, http), facts);
    default:
      return assertNever(kind);
  }
}

/** As `make-io` names what the guard refused. */
const ADDRESS_REFUSED = "address_refused";

const NOT_CALLED =
  "The address of this connection may not be called: it has to be public and https, or in a private range that the operator opened. Change `base_url`.";
const UNUSABLE = "The credential cannot be used as it stands, so nothing was sent. Give it anew and whole.";
const NO_CONNECTION =
  "No connection came about. See that `base_url` is right, that its name is resolved here, and that this machine may reach it.";
const NO_ANSWER = "No answer came in time. See that `base_url` is right, or test again later.";
const BROKEN = "The connection broke before the answer. See that `base_url` is right, or test again later.";

function refused(http: string): string {
  return `The provider refuses the credential${http}. Give it anew and whole, and see that it is in force, and of this provider and region.`;
}

function whenever({ retryAfterSeconds }: ProviderError): string {
  return retryAfterSeconds === null ? "later" : `in ${Math.ceil(retryAfterSeconds)} s`;
}

function failing(http: string): string {
  return `The provider has trouble of its own${http}, which says nothing about the credential. Test again later.`;
}

function unexpected(status: number | null, http: string): string {
  if (status !== null && status >= 300 && status < 400)
    return `The address leads elsewhere${http}, and nobody is followed with a credential. Give the address it leads to as \`base_url\`.`;
  if (status === 404 || status === 405)
    return `There is no such thing at this address${http}. See that \`base_url\` is what precedes the provider's own paths; a server without a list of models cannot be tested so, and may serve calls all the same; where it takes audio elsewhere, set \`transcribe_path\` in the target's settings.`;
  if (status !== null && status >= 400)
    return `The provider does not take the question${http}, which says nothing about the credential. See that \`base_url\` is right, or try a call.`;
  return `What answers is not this provider${http}. See that \`base_url\` is right, and what stands in between.`;
}
