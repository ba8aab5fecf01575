// Calls one target: plans the provider request, sends it, and checks that the answer proves the required features (receipts). `judge-failure.ts` decides
// what a failure means for the request.
import type { Preference } from "../../contract/features.ts";
import { yieldToEventLoop } from "../../lib/concurrency/tick-budget.ts";
import { ProviderError, type StreamingIo } from "../../providers/io.ts";
import type {
  ProviderTranscript,
  RawTranscript,
  Receipt,
  SpeechAudio,
  SpeechPlan,
  SpeechProvider,
  SpeechRequest,
} from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Target } from "../../routing/types.ts";

export interface CallTarget {
  readonly provider: SpeechProvider;
  readonly candidate: Candidate;
  readonly request: SpeechRequest;
  readonly audio: SpeechAudio;
  /** What the answer must contain. `request` may ask for more. */
  readonly wanted: Requirements;
}

/** How a planned call is executed: directly, or by a job that stores its progress. Each `Io` has a time limit of its own. */
export type Execute = (
  call: Pick<CallTarget, "provider" | "candidate" | "audio"> & { readonly dropped: readonly Preference[] },
  plan: SpeechPlan,
  openIo: () => StreamingIo,
) => Promise<RawTranscript>;

const transcribeDirectly: Execute = ({ provider, audio }, plan, openIo) => provider.transcribe(plan, audio, openIo());

export type CallResult =
  | { readonly ok: true; readonly transcript: ProviderTranscript; readonly dropped: readonly Preference[] }
  | { readonly ok: false; readonly error: ProviderError };

/** A longer reply takes one event-loop tick to parse, so it is normalised in the next one. */
const LONG_REPLY_BYTES = 500_000;

/** Returns a failure of the provider as a result. Throws for internal errors only. */
export async function callTarget(
  call: CallTarget,
  openIo: () => StreamingIo,
  execute: Execute = transcribeDirectly,
): Promise<CallResult> {
  const { provider, candidate, request, audio, wanted } = call;
  const { target } = candidate;
  if (target.speech === null) throw new Error("a target without audio was called");
  const speechTarget = { model: target.model, speech: target.speech, settings: candidate.settings };
  const planResult = provider.plan(request, speechTarget);
  // The model's data declares the features and the adapter cannot plan them: an internal error, which must not drop a feature.
  if (!planResult.ok)
    throw new Error(`${provider.kind} ${target.model} declares but does not plan: ${planResult.missing.join(", ")}`);
  try {
    const raw = await execute({ ...call, dropped: planResult.dropped }, planResult.plan, openIo);
    if ((raw.sizeBytes ?? 0) > LONG_REPLY_BYTES) await yieldToEventLoop();
    const transcript = provider.normalise(raw, request, speechTarget, audio);
    const missing = transcript.receipts
      .filter((receipt) => !receipt.delivered && isRequired(receipt, wanted, target))
      .map((receipt) => receipt.feature);
    const receipts = transcript.receipts.filter(isKept);
    if (missing.length > 0) {
      const reason = missing.join(",");
      const ofModel = receipts.filter(({ feature }) => feature === "model");
      return { ok: false, error: new ProviderError("feature_dropped", { reason, receipts: ofModel }) };
    }
    return { ok: true, transcript: { ...transcript, receipts }, dropped: planResult.dropped };
  } catch (error) {
    if (error instanceof ProviderError) return { ok: false, error };
    throw error;
  }
}

/** Times that only a job requests, in order to store them, are not required. */
function isRequired({ feature, isTolerated }: Receipt, wanted: Requirements, target: Target): boolean {
  if (feature === "model") return isTolerated !== true || target.requiresExactModel;
  if (feature === "timestamps.word") return wanted.features.includes(feature);
  return feature !== "timestamps.segment" || wanted.wantsSegments;
}

/** An answer that reports no model, where none is required, has no receipt for it. */
function isKept({ feature, delivered, answered, isTolerated }: Receipt): boolean {
  return feature !== "model" || delivered || answered !== undefined || isTolerated !== true;
}
