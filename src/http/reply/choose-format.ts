// Content negotiation by `Accept` (RFC 9110 section 12.5.1): bare text and caption bodies [api.accept].
import { GatewayError } from "../../contract/errors.ts";
import type { ResponseFormat } from "../../contract/transcription.ts";
import { DELIVERIES, DELIVERY_TYPES, type Delivery, deliverable } from "../../gateway/transcription/envelope.ts";

const DELIVERED_TYPES = DELIVERIES.map((delivery) => DELIVERY_TYPES[delivery]);

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Throws `NOT_ACCEPTABLE` for an `Accept` that no answer could meet, whatever its format. */
export function refuseUndeliverable(accept: string | undefined): void {
  chooseMediaType(accept, DELIVERED_TYPES);
}

/** The format that Accept asks for by a bare body, where no response_format does; undefined: JSON is as welcome. */
export function bareByAccept(accept: string | undefined): Exclude<Delivery, "json"> | undefined {
  const chosen = mostWelcome(accept, DELIVERED_TYPES);
  return (["text", "srt", "vtt"] as const).find((format) => DELIVERY_TYPES[format] === chosen);
}

/** The most welcome form that an answer in this format can take; JSON when all are. Throws `NOT_ACCEPTABLE`. */
export function chooseDelivery(accept: string | undefined, format: ResponseFormat): Delivery {
  const possible = DELIVERIES.filter((delivery) => deliverable(delivery, format));
  const chosen = mostWelcome(
    accept,
    possible.map((delivery) => DELIVERY_TYPES[delivery]),
  );
  const delivery = possible.find((each) => DELIVERY_TYPES[each] === chosen);
  if (delivery !== undefined) return delivery;
  throw new GatewayError("NOT_ACCEPTABLE", {
    message: `Accept takes no form that an answer with response_format ${format} can have. Set response_format to the caption format that Accept asks for, or accept application/json.`,
    param: "accept",
    details: { media_types: possible.map((each) => DELIVERY_TYPES[each]) },
  });
}

/** The most welcome of `offers`; the earlier one where two are equally so. Throws `NOT_ACCEPTABLE`. */
export function chooseMediaType(accept: string | undefined, offers: readonly string[]): string {
  const best = mostWelcome(accept, offers);
  if (best !== null) return best;
  throw new GatewayError("NOT_ACCEPTABLE", {
    message: `None of the media types in Accept can be produced; this endpoint produces ${offers.join(", ")}.`,
    param: "accept",
    details: { media_types: offers },
  });
}

function mostWelcome(accept: string | undefined, offers: readonly string[]): string | null {
  // Nearly every caller.
  if (accept === undefined || accept === "*/*") return offers[0] ?? null;
  const ranges = parseAccept(accept);
  let best: string | null = null;
  let bestQuality = 0;
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges);
    if (quality <= bestQuality) continue;
    best = offer;
    bestQuality = quality;
  }
  return best;
}

function parseAccept(accept: string): readonly Range[] {
  const ranges: Range[] = [];
  for (const element of accept.split(",")) {
    const [type = "", ...parameters] = element.split(";").map((part) => part.trim().toLowerCase());
    if (type === "") continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    ranges.push({ type, quality: weight === undefined ? 1 : parseQuality(weight) });
  }
  return ranges.length === 0 ? [{ type: "*/*", quality: 1 }] : ranges;
}

function parseQuality(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

/** The most specific range that covers the offer decides, not the highest weight. */
function qualityOf(offer: string, ranges: readonly Range[]): number {
  const family = `${offer.split("/")[0] ?? ""}/*`;
  // A caller that asks for errors in the form of RFC 9457 takes JSON answers as a matter of course.
  const names = offer === "application/json" ? [[offer], ["application/problem+json"]] : [[offer]];
  for (const candidates of [...names, [family], ["*/*"]]) {
    const found = ranges.filter((range) => candidates.includes(range.type));
    if (found.length > 0) return Math.max(...found.map((range) => range.quality));
  }
  return 0;
}
