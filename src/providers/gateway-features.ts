// What the gateway does around the calls of models that have no such feature themselves.
import type { FeatureSupport } from "./provider.ts";

/** Sends each channel by itself (`gateway/transcription/channel-transcripts`); as many calls, and as many times the cost. */
export const SPLIT_BY_GATEWAY: FeatureSupport = { support: "exact", grade: "shown", byGateway: true };

/** Masks words from a list in the finished transcript (`gateway/transcription/mask-profanity`). */
export const MASKED_BY_GATEWAY: FeatureSupport = { support: "weak", grade: "sent", byGateway: true };
