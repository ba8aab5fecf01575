// Schemas of times and days that callers send, limited to years that every clock, calendar and database involved supports [admin.version-impossible].
import { z } from "zod";

const FIRST_MS = Date.UTC(1970, 0, 1);
/** A day or an offset may be added without reaching the year 10000, which has another notation. */
const END_MS = Date.UTC(9999, 0, 1);
const YEARS = "must be between the years 1970 and 9998";

export function givenTime(error = "must be a time such as 2027-01-31T00:00:00Z") {
  return z.iso.datetime({ offset: true, error }).refine(isInYears, YEARS);
}

export function givenDay() {
  return z.iso.date().refine(isInYears, YEARS);
}

function isInYears(text: string): boolean {
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms < END_MS;
}
