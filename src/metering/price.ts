// Prices are data with a source and a date (contract 9). A model without one is not free: its price is unknown, and it is
// billed by its provider.
import { parseUsd } from "./money.ts";

export interface AudioPrice {
  readonly provider: string;
  readonly model: string;
  readonly nanoUsdPerAudioHour: bigint;
  /** The provider counts each channel's time. */
  readonly perChannel: boolean;
  readonly source: string;
  /** A date, `2026-11-01`. */
  readonly asOf: string;
}

export interface PriceBook {
  /** Null: unknown, which is not 0. */
  audio(provider: string, model: string): AudioPrice | null;
}

/** Spec 1.9: the one dedicated speech model that the gateway itself bills. */
export const BUILT_IN_PRICES: readonly AudioPrice[] = [
  {
    provider: "elevenlabs",
    model: "scribe_v2",
    nanoUsdPerAudioHour: 220_000_000n,
    perChannel: false,
    source: "Patchbay specification 1.9",
    asOf: "2026-11-01",
  },
];

/** The operator's prices replace built-in ones of the same model. */
export function createPriceBook(prices: readonly AudioPrice[]): PriceBook {
  const book = new Map([...BUILT_IN_PRICES, ...prices].map((price) => [nameOf(price.provider, price.model), price]));
  return { audio: (provider, model) => book.get(nameOf(provider, model)) ?? null };
}

const MS_PER_HOUR = 3_600_000n;

/** Exact, rounded half up to a nano-USD. `pricedMs` already counts the channels where the price does. */
export function audioCharge(price: AudioPrice, pricedMs: number): bigint {
  return (price.nanoUsdPerAudioHour * BigInt(pricedMs) + MS_PER_HOUR / 2n) / MS_PER_HOUR;
}

/** As kept in the `prices` table and beside each attempt: amounts as decimal text, for JSON has no exact numbers. */
export interface StoredAudioPrice {
  readonly provider: string;
  readonly model: string;
  readonly nano_usd_per_audio_hour: string;
  readonly per_channel: boolean;
  readonly source: string;
  readonly as_of: string;
}

export function storeAudioPrice(price: AudioPrice): StoredAudioPrice {
  const { provider, model, perChannel, source, asOf } = price;
  return {
    provider,
    model,
    nano_usd_per_audio_hour: price.nanoUsdPerAudioHour.toString(),
    per_channel: perChannel,
    source,
    as_of: asOf,
  };
}

/** A price as an operator writes it; null when the amount is not an exact decimal. */
export function parseAudioPrice(
  given: Omit<AudioPrice, "nanoUsdPerAudioHour"> & { readonly usdPerAudioHour: string },
): AudioPrice | null {
  const { usdPerAudioHour, ...rest } = given;
  const nanoUsdPerAudioHour = parseUsd(usdPerAudioHour);
  return nanoUsdPerAudioHour === null ? null : { ...rest, nanoUsdPerAudioHour };
}

function nameOf(provider: string, model: string): string {
  return `${provider}/${model}`;
}
