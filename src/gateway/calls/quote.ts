// What one attempt would cost and who pays it: the billing class, the charge, and the list price recorded with it
// [metering.billable-seconds].
import type { Principal } from "../../auth/principal.ts";
import type { BillingClass } from "../../contract/billing-class.ts";
import type { AudioPrice, Price } from "../../metering/price.ts";
import { audioCharge } from "../../metering/price.ts";
import type { Target } from "../../routing/types.ts";
import type { GatewayServices } from "../services.ts";

export interface Billing {
  readonly billingClass: BillingClass;
  /** Milliseconds of submitted audio. */
  readonly audioMs: number;
  /** Milliseconds that are charged: times the channels where the price is per channel or each is sent by itself; 0 unless metered. */
  readonly billableMs: number;
  /** What the app is charged when this attempt serves; 0 unless metered. */
  readonly chargeNanoUsd: bigint;
  /** The list price, kept as an estimate where the provider bills somebody else; null: unknown, which is not 0. */
  readonly listNanoUsd: bigint | null;
  readonly price: AudioPrice | null;
}

/** For all of one call: charged by a price that was raised meanwhile it would cost more than was reserved for it. */
export function withCurrentPrices<S extends Pick<GatewayServices, "prices">>(services: S): S {
  const book = services.prices();
  return { ...services, prices: () => book };
}

export function quoteFor(
  services: Pick<GatewayServices, "prices">,
  principal: Pick<Principal, "testMode">,
  target: Target,
  audio: { readonly audioMs: number; readonly channels: number; readonly isSplit?: boolean },
): Billing {
  const price = services.prices().audio(target.provider, target.model);
  const billingClass = billingClassOf(principal, target, price);
  const pricedMs = audio.audioMs * (price?.perChannel === true || audio.isSplit === true ? audio.channels : 1);
  const listNanoUsd = price === null ? null : audioCharge(price, pricedMs);
  const metered = billingClass === "metered";
  return {
    billingClass,
    audioMs: audio.audioMs,
    billableMs: metered ? pricedMs : 0,
    chargeNanoUsd: metered ? (listNanoUsd ?? 0n) : 0n,
    listNanoUsd: billingClass === "simulated" ? 0n : listNanoUsd,
    price,
  };
}

export function billingClassOf(
  principal: Pick<Principal, "testMode">,
  target: Pick<Target, "ownership">,
  price: Price | null,
): BillingClass {
  if (principal.testMode || target.ownership === "simulated") return "simulated";
  return target.ownership === "platform" && price !== null ? "metered" : "provider_billed";
}
