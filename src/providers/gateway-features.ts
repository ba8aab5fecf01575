// Features that the gateway implements around a call, for models without them.
import type { FeatureSupport } from "./provider.ts";

/** Sends each channel separately (`gateway/transcription/channel-transcripts`), as one call each, at the cost of one call each. */
export const SPLIT_BY_GATEWAY: FeatureSupport = { support: "exact", grade: "shown", byGateway: true };

/** Masks words from a list in the finished transcript (`gateway/transcription/mask-profanity`). */
export const MASKED_BY_GATEWAY: FeatureSupport = { support: "weak", grade: "sent", byGateway: true };
