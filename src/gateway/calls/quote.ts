// Quotes one attempt: the billing class, the charge, and the list price recorded with it [metering.billable-seconds].
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
  /** Milliseconds that are charged, multiplied by the channels if priced or sent per channel. 0 unless metered. */
  readonly billableMs: number;
  /** The app's charge if this attempt serves. 0 unless metered. */
  readonly chargeNanoUsd: bigint;
  /** The list price, recorded as an estimate if the provider bills another account. Null: unknown, which is not 0. */
  readonly listNanoUsd: bigint | null;
  readonly price: AudioPrice | null;
}

/** Pins the prices for one call: a price raised meanwhile would charge more than was reserved. */
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
