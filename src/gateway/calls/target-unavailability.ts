// Judges whether a target can be called at all: whether its model still exists, whether the workspace's plan pays for it, and whether it is paused or its
// circuit is open.
import type { Principal } from "../../auth/principal.ts";
import type { Capability } from "../../contract/features.ts";
import type { PriceBook } from "../../metering/price.ts";
import type { UnavailabilityOf } from "../../routing/pick-candidates.ts";
import { retiredTarget } from "../../routing/retired-target.ts";
import type { Target } from "../../routing/types.ts";
import type { GatewayServices } from "../services.ts";
import { circuitOf } from "./circuit-name.ts";
import type { Payer } from "../account/payer.ts";

/** As of now. Test keys call the sandbox, which is never paused. */
export function unavailabilityFor(services: UnavailabilityServices, holder: PlanHolder): UnavailabilityOf {
  const { circuits, directory, now } = services;
  const { testMode } = holder;
  const at = now();
  const permanentLack = permanentLackFor(services, holder);
  return (target, capability) => {
    const lack = permanentLack(target, capability);
    if (lack !== null) return lack;
    const until = testMode ? null : directory().pausedUntil(target.account, target.model, at);
    if (until !== null)
      return { kind: "paused", until, secondsLeft: Math.ceil((until.getTime() - at.getTime()) / 1000) };
    return circuits.isHealthy(circuitOf(target, testMode)) ? null : { kind: "after_failures" };
  };
}

/** Whether the target was paused since it was chosen, while other targets were tried or speech to be translated was transcribed. */
export function isPausedByNow(
  { directory, now }: Pick<UnavailabilityServices, "directory" | "now">,
  target: Target,
  { testMode }: { readonly testMode: boolean },
): boolean {
  return !testMode && directory().pausedUntil(target.account, target.model, now()) !== null;
}

export type UnavailabilityServices = Pick<GatewayServices, "circuits" | "directory" | "modelClock" | "now" | "prices">;

/** A caller, or what a job stores of it. */
export type PlanHolder = Pick<Principal, "testMode" | "workspace"> | Pick<Payer, "testMode" | "hasPlan">;

/**
 * For decisions with later calls: a target that is unavailable now may be available by then, but a retired model [routing.model-retired] and a missing price
 * remain. A test key's targets retire like those of a live key, so that a test finds it.
 */
export function permanentLackFor(
  services: Pick<GatewayServices, "modelClock" | "prices">,
  holder: PlanHolder,
): UnavailabilityOf {
  const nowMs = services.modelClock().getTime();
  const unpriced = unpricedFor(services, holder);
  return (target, capability) => retiredTarget(target, capability, nowMs) ?? unpriced(target, capability);
}

function unpricedFor({ prices }: Pick<GatewayServices, "prices">, holder: PlanHolder): UnavailabilityOf {
  const hasPlan = "hasPlan" in holder ? holder.hasPlan : holder.workspace.plan !== null;
  if (!hasPlan || holder.testMode) return () => null;
  const book = prices();
  return (target, capability) => (isPaidByPlan(book, target, capability) ? null : UNPRICED_TARGET);
}

const UNPRICED_TARGET = { kind: "unpriced" } as const;

/** On a shared connection a plan pays only for models that have a price or that the operator offers free. */
export function isPaidByPlan(
  book: PriceBook,
  { ownership, provider, model }: Pick<Target, "ownership" | "provider" | "model">,
  capability: Capability,
): boolean {
  if (ownership !== "platform" || book.isFree(provider, model)) return true;
  return (capability === "chat" ? book.chat(provider, model) : book.audio(provider, model)) !== null;
}
