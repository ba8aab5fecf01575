// What the gateway does around the calls of models that have no such feature themselves.
import type { FeatureSupport } from "./provider.ts";

/** Masks words from a list in the finished transcript (`gateway/mask-profanity`). */
export const MASKED_BY_GATEWAY: FeatureSupport = { support: "weak", grade: "sent", byGateway: true };
