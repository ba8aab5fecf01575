// Whether a provider has ended the model of a target, by its own evidence [routing.model-retired]. Pure: the time is an argument.
import type { Capability } from "../contract/features.ts";
import { type ModelRetirement, vendorRetirement } from "../providers/life-status.ts";
import type { ModelLife } from "../providers/model-life.ts";
import type { Target } from "./types.ts";

/** A lack and not unavailability, because waiting does not help. */
export interface RetiredTarget extends ModelRetirement {
  readonly kind: "retired";
}

/** Null: the provider serves the model at `nowMs`. */
export function retiredTarget(target: Target, capability: Capability, nowMs: number): RetiredTarget | null {
  const retirement = vendorRetirement(lifeOf(target, capability), nowMs);
  return retirement === null ? null : { kind: "retired", ...retirement };
}

/** Undefined: nothing is known of the model's life. */
export function lifeOf(
  { speech, chat }: Pick<Target, "speech" | "chat">,
  capability: Capability,
): ModelLife | undefined {
  return (capability === "chat" ? chat : speech)?.life;
}
