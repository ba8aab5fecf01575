// Passes the binary values of many rows as one parameter, of which `substr` cuts each row's own: an array of binary values would be sent as
// hexadecimal text of twice the size.
export interface Concatenated {
  readonly bytes: Buffer;
  /** In order. `at` counts from 1, as `substr` does. Null: the row has no value. */
  readonly places: readonly ({ readonly at: number; readonly length: number } | null)[];
}

export function concatenate(values: readonly (Buffer | null)[]): Concatenated {
  let at = 1;
  const places = values.map((value) => {
    if (value === null) return null;
    const place = { at, length: value.length };
    at += value.length;
    return place;
  });
  return { bytes: Buffer.concat(values.filter((value) => value !== null)), places };
}
