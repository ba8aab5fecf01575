// Content negotiation by `Accept` (RFC 9110 section 12.5.1): JSON, plain text or captions [api.accept].
import { GatewayError } from "../../contract/errors.ts";
import type { ResponseFormat } from "../../contract/transcription/transcription-fields.ts";
import { DELIVERIES, DELIVERY_TYPES, type Delivery, deliverable } from "../../gateway/transcription/delivery.ts";

const DELIVERED_TYPES = DELIVERIES.map((delivery) => DELIVERY_TYPES[delivery]);

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Throws `NOT_ACCEPTABLE` if no response could satisfy `Accept`, whatever its format. */
export function refuseUndeliverable(accept: string | undefined): void {
  chooseMediaType(accept, DELIVERED_TYPES);
}

/** The text or caption format that `Accept` prefers, for requests without `response_format`. Undefined: JSON is at least as acceptable. */
export function bareByAccept(accept: string | undefined): Exclude<Delivery, "json"> | undefined {
  const mediaType = preferredOf(accept, DELIVERED_TYPES);
  return (["text", "srt", "vtt"] as const).find((format) => DELIVERY_TYPES[format] === mediaType);
}

/** The preferred media type for a response in this format, or JSON if all are equally acceptable. Throws `NOT_ACCEPTABLE`. */
export function chooseDelivery(accept: string | undefined, format: ResponseFormat): Delivery {
  const deliveries = DELIVERIES.filter((delivery) => deliverable(delivery, format));
  const mediaType = preferredOf(
    accept,
    deliveries.map((delivery) => DELIVERY_TYPES[delivery]),
  );
  const delivery = deliveries.find((each) => DELIVERY_TYPES[each] === mediaType);
  if (delivery !== undefined) return delivery;
  throw new GatewayError("NOT_ACCEPTABLE", {
    message: `Accept allows no media type that an answer with response_format ${format} can have. Set response_format to the caption format that Accept asks for, or accept application/json.`,
    param: "accept",
    details: { media_types: deliveries.map((each) => DELIVERY_TYPES[each]) },
  });
}

/** The preferred one of `offers`, or the first of several equally preferred ones. Throws `NOT_ACCEPTABLE`. */
export function chooseMediaType(accept: string | undefined, offers: readonly string[]): string {
  const best = preferredOf(accept, offers);
  if (best !== null) return best;
  throw new GatewayError("NOT_ACCEPTABLE", {
    message: `None of the media types in Accept can be produced; this endpoint produces ${offers.join(", ")}.`,
    param: "accept",
    details: { media_types: offers },
  });
}

function preferredOf(accept: string | undefined, offers: readonly string[]): string | null {
  // Nearly all clients send one of these.
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

/** The most specific range that matches the offer decides, not the highest weight. */
function qualityOf(offer: string, ranges: readonly Range[]): number {
  const family = `${offer.split("/")[0] ?? ""}/*`;
  // A client that accepts errors in the form of RFC 9457 also accepts JSON responses.
  const names = offer === "application/json" ? [[offer], ["application/problem+json"]] : [[offer]];
  for (const candidates of [...names, [family], ["*/*"]]) {
    const matchingRanges = ranges.filter((range) => candidates.includes(range.type));
    if (matchingRanges.length > 0) return Math.max(...matchingRanges.map((range) => range.quality));
  }
  return 0;
}
