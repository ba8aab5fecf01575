// Interprets a provider's answer to a connection test: the outcome, and advice for the operator [admin.test-outcome]. Pure. Repeats no text of the provider,
// except for a value that is clearly an error code.
import type { ConnectionTest, TestOutcome } from "../../contract/admin/connection-test.ts";
import { assertNever } from "../../lib/assert-never.ts";
import type { AccountAnswer } from "../../providers/account-probe.ts";
import type { ProviderError } from "../../providers/io.ts";
import { ENGINE_COMMAND } from "../../providers/local/local-models.ts";

type Judgement = Pick<ConnectionTest, "ok" | "outcome" | "message" | "status" | "code">;

interface TestFacts {
  readonly hasCredential: boolean;
  readonly models: ConnectionTest["models"];
  readonly undeclared: readonly string[] | null;
}

/** `answer` is null if nothing was sent because there is no credential. */
export function judgeTest(answer: AccountAnswer | ProviderError | null, known: TestFacts): Judgement {
  if (answer === null) return judgement("no_credential", NO_CREDENTIAL);
  if (answer instanceof Error) return judgeFailure(answer, known);
  const { kind, status } = answer;
  switch (kind) {
    case "accepted":
      return { ...judgement("accepted", `${credentialText(known)} ${modelsText(known)}`, { status }), ok: true };
    case "whisper_cpp":
      if (answer.path === null) return judgement("unexpected", WHISPER_CPP_ELSEWHERE, { status });
      return known.hasCredential
        ? judgement("unproven", `${whisperCpp(answer.path)} It requires no credential, so this one is not needed.`, {
            status,
          })
        : { ...judgement("accepted", whisperCpp(answer.path), { status }), ok: true };
    case "open":
      return judgement("unproven", `${OPEN} ${modelsText(known)}`, { status });
    case "local":
      return answer.isEngineInstalled
        ? { ...judgement("accepted", localText(known), { status }), ok: true }
        : judgement("unexpected", ENGINE_MISSING, { status });
    case "restricted":
      return known.hasCredential
        ? judgement("restricted", restrictedText(status), answer)
        : judgement("refused", WANTS_CREDENTIAL, answer);
    default:
      return assertNever(kind);
  }
}

const NO_CREDENTIAL = "The connection has no credential, so nothing was sent. Set one and test again.";
const OPEN =
  "The server accepts the same request without the credential, so the credential was not verified. Try a call.";
const WANTS_CREDENTIAL = "The server requires a credential, but the connection has none. Set one and test again.";

const WHISPER_CPP_ELSEWHERE =
  "whisper.cpp's server responds here, but accepts audio neither at `/inference` nor at `/v1/audio/transcriptions`. Set `transcribe_path` in the target's settings to the path it was started with (`--inference-path`), behind `base_url`.";

function whisperCpp(path: string): string {
  return `whisper.cpp's server responds here and accepts audio at \`${path}\`, which is detected automatically: declare its models with \`dialect: whisper-cpp\`.`;
}

const ENGINE_MISSING = `The engine is not installed here, or has no build for this machine. Run \`${ENGINE_COMMAND}\` in the directory of the gateway and restart it.`;

function localText({ models }: TestFacts): string {
  const installed = models.filter(({ found }) => found === true).map(({ model }) => model);
  if (installed.length === 0) return "The engine is installed, but no model is. Run `patchbay models pull`.";
  return `The engine is installed, with ${count(installed.length, "model")}: ${installed.join(", ")}.`;
}

function judgement(
  outcome: TestOutcome,
  message: string,
  { status = null, code = null }: { readonly status?: number | null; readonly code?: string | null } = {},
): Judgement {
  return { ok: false, outcome, message, status, code };
}

function credentialText({ hasCredential }: TestFacts): string {
  return hasCredential ? "The provider accepts the credential." : "The server responds without a credential.";
}

function modelsText({ models, undeclared }: TestFacts): string {
  if (undeclared === null) return "It does not report which models the account may use; the first call will show it.";
  if (models.length === 0)
    return `It lists ${count(undeclared.length, "model")}: declare those that routes should use under \`models\`.`;
  return `It lists ${models.filter((model) => model.found === true).length} of the ${count(models.length, "model")} that routes can use here.`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function restrictedText(status: number): string {
  return `The provider does not allow this credential to list models (HTTP ${status}): it may be restricted but still work for calls. Grant this permission too, or try a call.`;
}

function judgeFailure(error: ProviderError, known: TestFacts): Judgement {
  const { kind, status, reason: code } = error;
  const facts = { status, code };
  const http = status === null ? "" : ` (HTTP ${status})`;
  switch (kind) {
    case "unauthorized":
      if (status === null) return judgement("refused", UNUSABLE, facts);
      return judgement("refused", known.hasCredential ? refusedText(http) : WANTS_CREDENTIAL, facts);
    case "payment":
      return judgement(
        "out_of_credit",
        `The provider accepts the credential, but the account has no credit${http}: top up the account.`,
        facts,
      );
    case "overloaded":
    case "rate_limited":
      return judgement(
        "busy",
        `The provider limits the request rate${http}, so the credential was not verified. Test again ${retryText(error)}.`,
        facts,
      );
    case "connect":
      return code === ADDRESS_REFUSED
        ? judgement("address_refused", NOT_CALLED)
        : judgement("unreachable", NO_CONNECTION, facts);
    case "timeout":
    // The client has disconnected, so the result is not read.
    case "aborted":
      return judgement("unreachable", NO_ANSWER, facts);
    case "unknown":
      return status === null ? judgement("unreachable", BROKEN, facts) : judgement("failing", failingText(http), facts);
    case "server_error":
      return status !== null && status >= 500
        ? judgement("failing", failingText(http), facts)
        : judgement("unexpected", unexpectedText(status, http), facts);
    case "not_found":
    case "rejected":
    case "bad_reply":
    case "feature_dropped":
      return judgement("unexpected", unexpectedText(status, http), facts);
    default:
      return assertNever(kind);
  }
}

/** The reason that `make-io` sets when the guarded connector refuses an address. */
const ADDRESS_REFUSED = "address_refused";

const NOT_CALLED =
  "The address of this connection may not be called: it has to be public and https, or in a private range that the operator opened. Change `base_url`.";
const UNUSABLE = "The credential is malformed, so nothing was sent. Enter it again completely.";
const NO_CONNECTION =
  "No connection. Check that `base_url` is right, that its name can be resolved, and that this machine can reach it.";
const NO_ANSWER = "No answer in time. Check that `base_url` is right, or test again later.";
const BROKEN = "The connection broke before the answer. Check that `base_url` is right, or test again later.";

function refusedText(http: string): string {
  return `The provider rejects the credential${http}. Enter it again completely, and check that it is active and belongs to this provider and region.`;
}

function retryText({ retryAfterSeconds }: ProviderError): string {
  return retryAfterSeconds === null ? "later" : `in ${Math.ceil(retryAfterSeconds)} s`;
}

function failingText(http: string): string {
  return `The provider has an internal error${http}, so the credential was not verified. Test again later.`;
}

function unexpectedText(status: number | null, http: string): string {
  if (status !== null && status >= 300 && status < 400)
    return `The address redirects elsewhere${http}, and redirects are not followed with a credential. Set \`base_url\` to the target address.`;
  if (status === 404 || status === 405)
    return `Nothing was found at this address${http}. Check that \`base_url\` is the part before the provider's own paths. A server that does not list models cannot be tested, but may still serve calls. If it accepts audio at another path, set \`transcribe_path\` in the target's settings.`;
  if (status !== null && status >= 400)
    return `The provider does not accept the request${http}, so the credential was not verified. Check that \`base_url\` is right, or try a call.`;
  return `The response is not from this provider${http}. Check that \`base_url\` is right, and that no other server is in between.`;
}
