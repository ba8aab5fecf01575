// `patchbay route explain` (contract 3, 10): the decision that a request would run on, made by the very functions that make it, and
// told in the words of its record.
import type { Principal } from "../auth/principal.ts";
import type { ChatFields } from "../contract/chat.ts";
import { brand } from "../contract/ids.ts";
import type { TranslationFields } from "../contract/transcription.ts";
import type { Requirements } from "../routing/required-features.ts";
import { decideFor, type MeasuredFacts, type RoutedCall } from "./audio-call.ts";
import { decideChat } from "./chat.ts";
import { openRecord, type Recorder, type RequestRecord } from "./request-record.ts";
import { type RestServices, restsFor } from "./resolve-account.ts";
import type { GatewayServices } from "./services.ts";
import { decideWithChat } from "./translate-by-chat.ts";

export type RouteTrace = Pick<RequestRecord, "asked" | "purpose" | "route" | "refusal" | "candidates">;

export type ExplainServices = RestServices & Pick<GatewayServices, "decoder" | "chatProviders">;

export interface AudioExplanation {
  readonly kind: "audio";
  readonly principal: Principal;
  readonly task: Requirements["task"];
  readonly fields: TranslationFields;
  /** Null: nothing is known of it, as of a job's URL. */
  readonly audio: MeasuredFacts | null;
}

export interface ChatExplanation {
  readonly kind: "chat";
  readonly principal: Principal;
  readonly fields: ChatFields;
}

export function explainRoute(services: ExplainServices, question: AudioExplanation | ChatExplanation): RouteTrace {
  const { principal } = question;
  let trace: RouteTrace | null = null;
  const record = openRecord(
    { requestId: brand("request", ""), endpoint: "", principal, receivedAtMs: 0, hasIdempotencyKey: false },
    () => 0,
    ({ asked, purpose, route, refusal, candidates }) => {
      trace = { asked, purpose, route, refusal, candidates };
    },
  );
  if (question.kind === "chat") explainChat(services, question, record.recorder);
  else explainAudio(services, question, record.recorder);
  record.end({ status: 200, code: null });
  if (trace === null) throw new Error("a record that ended was not kept");
  return trace;
}

function explainChat(services: ExplainServices, { principal, fields }: ChatExplanation, recorder: Recorder): void {
  const isStreamed = fields.stream === true;
  decideChat(services, { principal, fields, purposeHeader: null, recorder }, isStreamed);
}

/** What waits for its answer may be translated by a chat model; streams and jobs are not. */
function explainAudio(services: ExplainServices, question: AudioExplanation, recorder: Recorder): void {
  const { principal, task, fields, audio } = question;
  const call: RoutedCall = {
    requestId: brand("request", ""),
    endpoint: "",
    task,
    principal,
    fields,
    purposeHeader: null,
    policyHeader: null,
    recorder,
  };
  const isAnswered = fields.dry_run === true || (fields.stream !== true && (fields.mode ?? "batch") === "batch");
  if (isAnswered && audio !== null) decideWithChat(services, call, audio);
  else decideFor(services, call, audio, restsFor(services, principal));
}
