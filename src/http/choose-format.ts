// Content negotiation by `Accept` (RFC 9110 section 12.5.1; contract 3: bare text and caption bodies).
import { GatewayError } from "../contract/errors.ts";
import { DELIVERIES, DELIVERY_TYPES, type Delivery } from "../gateway/envelope.ts";

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The form of the answer for this `Accept`; JSON when all are welcome. Throws `NOT_ACCEPTABLE`. */
export function chooseDelivery(accept: string | undefined): Delivery {
  const chosen = chooseMediaType(
    accept,
    DELIVERIES.map((delivery) => DELIVERY_TYPES[delivery]),
  );
  return DELIVERIES.find((delivery) => DELIVERY_TYPES[delivery] === chosen) ?? "json";
}

/** The most welcome of `offers`; the earlier one where two are equally so. Throws `NOT_ACCEPTABLE`. */
export function chooseMediaType(accept: string | undefined, offers: readonly string[]): string {
  const ranges = parseAccept(accept ?? "*/*");
  let best: string | null = null;
  let bestQuality = 0;
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges);
    if (quality <= bestQuality) continue;
    best = offer;
    bestQuality = quality;
  }
  if (best !== null) return best;
  throw new GatewayError("NOT_ACCEPTABLE", {
    message: `None of the media types in Accept can be produced; this endpoint produces ${offers.join(", ")}.`,
    param: "accept",
    details: { media_types: offers },
  });
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
