// The value shapes that only the configuration file has; those it shares with the API are in `contract/set-up/kit.ts` (contract 10).
import { z } from "zod";
import { SECRET_MARK } from "../../contract/set-up/kit.ts";
import { hostNameFault } from "../../lib/host-name.ts";

export const SECRET = z
  .string()
  .min(24, "must be 24 to 128 characters long")
  .max(128, "must be 24 to 128 characters long")
  .regex(/^[\x21-\x7e]*$/, "must be visible ASCII without blanks")
  .meta(SECRET_MARK);
export const PORT = z.int().min(0).max(65_535);
export const CIDR = z.string().refine(isCidr, "must be an address range such as 10.0.0.0/8 or fd00::/8");
export const DOMAIN = z.string().superRefine((text, context) => {
  const fault = hostNameFault(text);
  if (fault !== null) context.addIssue(fault);
});

function isCidr(text: string): boolean {
  const match = /^([0-9a-fA-F:.]{2,45})\/(\d{1,3})$/.exec(text);
  const address = match?.[1] ?? "";
  const bits = Number(match?.[2] ?? Number.NaN);
  if (address.includes(":")) return URL.canParse(`http://[${address}]/`) && bits <= 128;
  return /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(address) && bits <= 32;
}
