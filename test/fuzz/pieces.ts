// The same bytes in other pieces.
import * as fc from "fast-check";

/** Places to cut at, as shares of the whole, so that they fit whatever is cut. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 });

export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...places.map((place) => Math.round(place * bytes.length)).toSorted((one, other) => one - other)];
  return edges.map((edge, at) => bytes.subarray(edge, edges[at + 1] ?? bytes.length));
}
