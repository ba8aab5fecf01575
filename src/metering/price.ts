// Prices are data with a source and a date. A model without a price is not free: its price is unknown [metering.price-unknown], and its provider bills it.
// One price is built in [metering.price-built-in].
import { parseUsd } from "./money.ts";

export interface AudioPrice {
  readonly provider: string;
  readonly model: string;
  readonly nanoUsdPerAudioHour: bigint;
  /** Whether the provider bills each channel separately. */
  readonly perChannel: boolean;
  readonly source: string;
  /** A date, `2026-11-01`. */
  readonly asOf: string;
}

/** A chat price is known only if both amounts are. */
export interface ChatPrice {
  readonly provider: string;
  readonly model: string;
  readonly nanoUsdPerMillionInputTokens: bigint;
  readonly nanoUsdPerMillionOutputTokens: bigint;
  readonly source: string;
  readonly asOf: string;
}

export type Price = AudioPrice | ChatPrice;

export interface PriceBook {
  /** Null: unknown, which is not 0. */
  audio(provider: string, model: string): AudioPrice | null;
  chat(provider: string, model: string): ChatPrice | null;
  /** Whether the operator offers the model for free: workspaces with a plan may use it although it has no price. */
  isFree(provider: string, model: string): boolean;
}

export interface FreeModel {
  readonly provider: string;
  readonly model: string;
}

/** The built-in price of the one dedicated speech model that the gateway itself bills. */
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

/** Models on the gateway's own machine cost 0 until the operator prices them [metering.local-free]. */
function priceHere(provider: string, model: string): AudioPrice | null {
  if (provider !== "local") return null;
  return {
    provider,
    model,
    nanoUsdPerAudioHour: 0n,
    perChannel: false,
    source: "runs on this machine",
    asOf: "2026-11-26",
  };
}

/** The operator's prices replace built-in ones of the same model. */
export function createPriceBook(
  audio: readonly AudioPrice[],
  chat: readonly ChatPrice[] = [],
  free: readonly FreeModel[] = [],
): PriceBook {
  const audioBook = byModel([...BUILT_IN_PRICES, ...audio]);
  const chatBook = byModel(chat);
  const freeModels = byModel(free);
  return {
    audio: (provider, model) => audioBook.get(provider)?.get(model) ?? priceHere(provider, model),
    chat: (provider, model) => chatBook.get(provider)?.get(model) ?? null,
    isFree: (provider, model) => freeModels.get(provider)?.has(model) === true,
  };
}

/** The last of several prices of a model wins. */
function byModel<P extends FreeModel>(prices: readonly P[]): ReadonlyMap<string, ReadonlyMap<string, P>> {
  const ofProviders = Map.groupBy(prices, ({ provider }) => provider);
  return new Map(
    [...ofProviders].map(([provider, providerPrices]) => [
      provider,
      new Map(providerPrices.map((each) => [each.model, each])),
    ]),
  );
}

const MS_PER_HOUR = 3_600_000n;

/** Exact, rounded half up to a nano-USD. `pricedMs` includes the factor of channels if the price is per channel. */
export function audioCharge(price: AudioPrice, pricedMs: number): bigint {
  return (price.nanoUsdPerAudioHour * BigInt(pricedMs) + MS_PER_HOUR / 2n) / MS_PER_HOUR;
}

const MILLION = 1_000_000n;

/** Exact, rounded half up to a nano-USD. Cached input is charged as input. */
export function chatCharge(price: ChatPrice, inputTokens: number, outputTokens: number): bigint {
  const millionth =
    price.nanoUsdPerMillionInputTokens * BigInt(inputTokens) +
    price.nanoUsdPerMillionOutputTokens * BigInt(outputTokens);
  return (millionth + MILLION / 2n) / MILLION;
}

/** A price as stored in the `prices` table and with each attempt. Amounts are decimal text, because JSON has no exact numbers. */
export interface StoredAudioPrice {
  readonly provider: string;
  readonly model: string;
  readonly nano_usd_per_audio_hour: string;
  readonly per_channel: boolean;
  readonly source: string;
  readonly as_of: string;
}

export interface StoredChatPrice {
  readonly provider: string;
  readonly model: string;
  readonly nano_usd_per_million_input_tokens: string;
  readonly nano_usd_per_million_output_tokens: string;
  readonly source: string;
  readonly as_of: string;
}

export function storePrice(price: AudioPrice): StoredAudioPrice;
export function storePrice(price: Price): StoredAudioPrice | StoredChatPrice;
export function storePrice(price: Price): StoredAudioPrice | StoredChatPrice {
  const { provider, model, source, asOf } = price;
  const common = { provider, model, source, as_of: asOf };
  if ("nanoUsdPerAudioHour" in price)
    return {
      ...common,
      nano_usd_per_audio_hour: price.nanoUsdPerAudioHour.toString(),
      per_channel: price.perChannel,
    };
  return {
    ...common,
    nano_usd_per_million_input_tokens: price.nanoUsdPerMillionInputTokens.toString(),
    nano_usd_per_million_output_tokens: price.nanoUsdPerMillionOutputTokens.toString(),
  };
}

/** Reads what `storePrice` wrote. */
export function readAudioPrice(stored: StoredAudioPrice): AudioPrice {
  const { provider, model, source, as_of: asOf, per_channel: perChannel } = stored;
  const nanoUsdPerAudioHour = BigInt(stored.nano_usd_per_audio_hour);
  return { provider, model, nanoUsdPerAudioHour, perChannel, source, asOf };
}

/** Parses a price from the configuration. Null: the amount is not an exact decimal. */
export function parseAudioPrice(
  input: Omit<AudioPrice, "nanoUsdPerAudioHour"> & { readonly usdPerAudioHour: string },
): AudioPrice | null {
  const { usdPerAudioHour, ...rest } = input;
  const nanoUsdPerAudioHour = parseUsd(usdPerAudioHour);
  return nanoUsdPerAudioHour === null ? null : { ...rest, nanoUsdPerAudioHour };
}

/** Parses a chat price. Null also if one of the two amounts is missing. */
export function parseChatPrice(
  input: Pick<ChatPrice, "provider" | "model" | "source" | "asOf"> & {
    readonly usdPerMillionInputTokens: string | null;
    readonly usdPerMillionOutputTokens: string | null;
  },
): ChatPrice | null {
  const { usdPerMillionInputTokens, usdPerMillionOutputTokens, ...rest } = input;
  if (usdPerMillionInputTokens === null || usdPerMillionOutputTokens === null) return null;
  const nanoUsdPerMillionInputTokens = parseUsd(usdPerMillionInputTokens);
  const nanoUsdPerMillionOutputTokens = parseUsd(usdPerMillionOutputTokens);
  if (nanoUsdPerMillionInputTokens === null || nanoUsdPerMillionOutputTokens === null) return null;
  return { ...rest, nanoUsdPerMillionInputTokens, nanoUsdPerMillionOutputTokens };
}
