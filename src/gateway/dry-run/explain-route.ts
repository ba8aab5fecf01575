// `patchbay route explain` and `POST …/explain`: the routing decision of a request, made by the same functions and reported in the form of its record
// [routing.explain-equals-request].
import type { Principal } from "../../auth/principal.ts";
import type { ChatFields } from "../../contract/chat/chat-request.ts";
import { brand } from "../../contract/ids.ts";
import type { RouteTraceView } from "../../contract/admin/route-explanation.ts";
import type { TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import type { RoutingDecision } from "../../contract/transcription/transcription-envelope.ts";
import type { LiveEncoding } from "../../providers/provider.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";
import type { AudioDecision } from "../../routing/decide-translation.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { RoutedCall } from "../transcription/audio-call.ts";
import { decideChat } from "../chat/chat.ts";
import { describeUnmeasured } from "./describe-decision.ts";
import { dryRunAudio, dryRunChat } from "./dry-run.ts";
import { openRecord, type Recorder, type RequestRecord } from "../request-record.ts";
import { type UnavailabilityServices, unavailabilityFor, permanentLackFor } from "../calls/target-unavailability.ts";
import type { PlanServices } from "../chat/plan-chat.ts";
import type { GatewayServices } from "../services.ts";
import { decideFor, decideWithChat, type MeasuredFacts } from "../transcription/decide-audio.ts";
import { liveFacts } from "../transcription/unmeasured-audio.ts";

export type RouteTrace = Pick<RequestRecord, "asked" | "purpose" | "route" | "routeVersion" | "refusal" | "candidates">;

export type ExplainServices = UnavailabilityServices & PlanServices & Pick<GatewayServices, "decoder">;
export type JudgeServices = ExplainServices & Pick<GatewayServices, "ledger" | "quotas">;

export interface AudioExplanation {
  readonly kind: "audio";
  readonly principal: Principal;
  readonly task: Requirements["task"];
  readonly fields: TranslationFields;
  /** Null: nothing is known of the audio, for example of a job's URL. */
  readonly audio: MeasuredFacts | null;
}

export interface LiveExplanation {
  readonly kind: "live";
  readonly principal: Principal;
  readonly fields: TranslationFields;
  readonly encoding: LiveEncoding;
}

export interface ChatExplanation {
  readonly kind: "chat";
  readonly principal: Principal;
  readonly fields: ChatFields;
}

export type RouteQuestion = AudioExplanation | LiveExplanation | ChatExplanation;

export function explainRoute(services: ExplainServices, question: RouteQuestion): RouteTrace {
  return traceRoute(services, question).trace;
}

/** The same, with the answer of a dry run. */
export async function judgeRoute(
  services: JudgeServices,
  question: RouteQuestion,
): Promise<{ readonly trace: RouteTraceView; readonly decision: RoutingDecision }> {
  const { trace, made } = traceRoute(services, question);
  return { trace: traceView(trace), decision: await judgeDecision(services, question, made) };
}

/** The trace as the CLI prints it and the API returns it. */
export function traceView({ asked, purpose, route, routeVersion, refusal, candidates }: RouteTrace): RouteTraceView {
  return {
    object: "route_trace",
    asked: asked === null ? null : { ...asked, features: [...asked.features], preferences: [...asked.preferences] },
    purpose,
    route,
    route_version: routeVersion,
    refusal,
    candidates:
      candidates?.map(({ pausedUntil, retired, ...each }) => ({
        ...each,
        missing: [...each.missing],
        ...(pausedUntil === undefined ? {} : { paused_until: pausedUntil }),
        ...(retired === undefined ? {} : { retired: { ended_on: retired.date, source: retired.source } }),
      })) ?? null,
  };
}

type Made =
  | { readonly kind: "chat"; readonly decision: ChatDecision }
  | { readonly kind: "audio"; readonly call: RoutedCall; readonly decided: AudioDecision };

function traceRoute(
  services: ExplainServices,
  question: RouteQuestion,
): { readonly trace: RouteTrace; readonly made: Made } {
  const { principal } = question;
  let trace: RouteTrace | null = null;
  const record = openRecord(
    { requestId: brand("request", ""), endpoint: "", principal, receivedAtMs: 0, hasIdempotencyKey: false },
    () => 0,
    ({ asked, purpose, route, routeVersion, refusal, candidates }) => {
      trace = { asked, purpose, route, routeVersion, refusal, candidates };
    },
  );
  const made = decideOn(services, question, record.recorder);
  record.end({ status: 200, code: null });
  if (trace === null) throw new Error("a record that ended was not kept");
  return { trace, made };
}

function decideOn(services: ExplainServices, question: RouteQuestion, recorder: Recorder): Made {
  const { principal } = question;
  if (question.kind === "chat") {
    const isStreamed = question.fields.stream === true;
    const call = { principal, fields: question.fields, purposeHeader: null, recorder };
    return { kind: "chat", decision: decideChat(services, call, isStreamed) };
  }
  const call: RoutedCall = {
    requestId: brand("request", ""),
    endpoint: "",
    task: question.kind === "live" ? "transcribe" : question.task,
    principal,
    fields: question.kind === "live" ? { ...question.fields, stream: true } : question.fields,
    purposeHeader: null,
    policyHeader: null,
    recorder,
  };
  return { kind: "audio", call, decided: decideAudio(services, question, call) };
}

/** Only a synchronous answer may be translated by a chat model; streams and jobs may not. */
function decideAudio(
  services: ExplainServices,
  question: AudioExplanation | LiveExplanation,
  call: RoutedCall,
): AudioDecision {
  const unavailabilityOf = unavailabilityFor(services, call.principal);
  const withoutChat = (facts: MeasuredFacts | null, unavailability = unavailabilityOf): AudioDecision => ({
    decision: decideFor(services, call, facts, unavailability),
    byChat: null,
  });
  if (question.kind === "live") return withoutChat(liveFacts(question.encoding));
  const { fields, audio } = question;
  const { mode = "batch", stream, dry_run: isDryRun } = fields;
  const isAnswered = isDryRun === true || (stream !== true && mode === "batch");
  if (isAnswered && audio !== null) return decideWithChat(services, call, audio);
  return withoutChat(audio, mode === "async" ? permanentLackFor(services, call.principal) : unavailabilityOf);
}

function judgeDecision(
  services: JudgeServices,
  question: RouteQuestion,
  made: Made,
): Promise<RoutingDecision> | RoutingDecision {
  if (made.kind === "chat") return dryRunChat(services, question.principal, made.decision);
  const audio = question.kind === "audio" ? question.audio : null;
  // Without a length the cost is unknown.
  return audio === null
    ? describeUnmeasured(question.principal, made.decided.decision)
    : dryRunAudio(services, made.call, audio, made.decided);
}
