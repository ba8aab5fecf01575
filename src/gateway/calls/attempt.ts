// One call to one target: plan, call, receipts. What a failure means for the request is decided in judge-failure.ts.
import type { Preference } from "../../contract/features.ts";
import { yieldToEventLoop } from "../../lib/concurrency/run-cooperatively.ts";
import { ProviderError, type StreamingIo } from "../../providers/io.ts";
import type {
  ProviderTranscript,
  RawTranscript,
  SpeechAudio,
  SpeechPlan,
  SpeechProvider,
  SpeechRequest,
} from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";

export interface CallTarget {
  readonly provider: SpeechProvider;
  readonly candidate: Candidate;
  readonly request: SpeechRequest;
  readonly audio: SpeechAudio;
  /** What the answer may not lack; `request` can ask for more. */
  readonly wanted: Requirements;
}

/** How a planned call is made: in one go, or by a job that remembers where it stands. Each `Io` has its time limit anew. */
export type Execute = (
  call: Pick<CallTarget, "provider" | "candidate" | "audio"> & { readonly dropped: readonly Preference[] },
  plan: SpeechPlan,
  openIo: () => StreamingIo,
) => Promise<RawTranscript>;

const inOneGo: Execute = ({ provider, audio }, plan, openIo) => provider.transcribe(plan, audio, openIo());

export type CallResult =
  | { readonly ok: true; readonly transcript: ProviderTranscript; readonly dropped: readonly Preference[] }
  | { readonly ok: false; readonly error: ProviderError };

/** Longer ones take a turn of the event loop to parse, and are read in another. */
const LONG_REPLY_BYTES = 500_000;

/** Never throws for what a provider does: a failure is a result. A bug still throws. */
export async function callTarget(
  call: CallTarget,
  openIo: () => StreamingIo,
  execute: Execute = inOneGo,
): Promise<CallResult> {
  const { provider, candidate, request, audio, wanted } = call;
  const { target } = candidate;
  if (target.speech === null) throw new Error("a target without audio was called");
  const speechTarget = { model: target.model, speech: target.speech, settings: candidate.settings };
  const planned = provider.plan(request, speechTarget);
  // The model's data said yes and the adapter says no: a bug of ours, and not one that may cost a feature.
  if (!planned.ok)
    throw new Error(`${provider.kind} ${target.model} declares but does not plan: ${planned.missing.join(", ")}`);
  try {
    const raw = await execute({ ...call, dropped: planned.dropped }, planned.plan, openIo);
    if ((raw.sizeBytes ?? 0) > LONG_REPLY_BYTES) await yieldToEventLoop();
    const transcript = provider.normalise(raw, request, speechTarget, audio);
    const missing = transcript.receipts
      .filter(({ delivered, feature }) => !delivered && isRequired(feature, wanted))
      .map((receipt) => receipt.feature);
    if (missing.length > 0)
      return { ok: false, error: new ProviderError("feature_dropped", { reason: missing.join(",") }) };
    return { ok: true, transcript, dropped: planned.dropped };
  } catch (error) {
    if (error instanceof ProviderError) return { ok: false, error };
    throw error;
  }
}

/** Times that only a job asks for, to keep them, are no loss when they do not come. */
function isRequired(feature: ProviderTranscript["receipts"][number]["feature"], wanted: Requirements): boolean {
  if (feature === "timestamps.word") return wanted.features.includes(feature);
  return feature !== "timestamps.segment" || wanted.wantsSegments;
}
