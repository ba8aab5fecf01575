// Quotes one attempt: the billing class, the charge, and the list price recorded with it [metering.billable-seconds].
import type { Principal } from "../../auth/principal.ts";
import type { BillingClass } from "../../contract/billing-class.ts";
import { type AudioPrice, audioCharge } from "../../metering/price.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Target } from "../../routing/types.ts";
import type { GatewayServices } from "../services.ts";
import { billingClassOf } from "./billing-class.ts";

/** How much audio is submitted. `isSplit`: each channel is sent separately. */
export interface AudioAmount {
  readonly audioMs: number;
  readonly channels: number;
  readonly isSplit?: boolean;
}

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
  audio: AudioAmount,
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

/** A target that receives each channel separately charges for each, whatever its price says. */
export function audioAmount(
  audio: Pick<SpeechAudio, "durationSeconds" | "channels">,
  verdict?: Pick<Candidate["verdict"], "cut">,
): AudioAmount {
  return {
    audioMs: Math.round(audio.durationSeconds * 1000),
    channels: audio.channels,
    isSplit: verdict?.cut?.perChannel === true,
  };
}

/** The amount of a recording sent in pieces that was sent so far. */
export function sentAmount(
  audio: SpeechAudio,
  verdict: Pick<Candidate["verdict"], "cut">,
  sentMs: number,
): AudioAmount {
  const whole = audioAmount(audio, verdict);
  const sent = whole.isSplit === true ? Math.round(sentMs / whole.channels) : sentMs;
  return { ...whole, audioMs: Math.min(whole.audioMs, sent) };
}
