// Rounds US dollars for people [cli.money]: four decimals from one dollar on, four significant digits below. JSON and CSV contain the exact amount.

/** `0.0012345678` is `0.001235`, `12.345678` is `12.3457`. An amount that needs no rounding is unchanged: `50.00`. */
export function roundUsd(exact: string): string {
  const amount = Math.abs(Number(exact));
  if (!Number.isFinite(amount) || amount === 0) return exact;
  const zeros = amount >= 1 ? 0 : -Math.floor(Math.log10(amount)) - 1;
  const places = Math.min(zeros + PLACES, MOST_PLACES);
  const [, decimals = ""] = exact.split(".");
  return decimals.length <= places
    ? exact
    : Number(exact)
        .toFixed(places)
        .replace(/\.?0+$/u, "");
}

const PLACES = 4;
/** Amounts are exact to a billionth of a dollar. */
const MOST_PLACES = 9;
