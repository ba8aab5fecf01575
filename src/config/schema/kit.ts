// Value schemas that only the configuration file has. Those that it shares with the API are in `contract/settings/kit.ts`.
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { SECRET_MARK } from "../../contract/settings/kit.ts";
import { hostNameFault, spelledAsHostName } from "../../lib/text/host-name.ts";

export const SECRET = z
  .string()
  .min(24, "must be 24 to 128 characters long")
  .max(128, "must be 24 to 128 characters long")
  .regex(/^[\x21-\x7e]*$/, "must be visible ASCII without blanks")
  .meta(SECRET_MARK);
export const PORT = z.int().min(0).max(65_535);
export const CIDR = z.string().refine(isCidr, "must be an address range such as 10.0.0.0/8 or fd00::/8");
const DOMAIN = z
  .string()
  .overwrite(spelledAsHostName)
  .superRefine((text, context) => {
    const fault = hostNameFault(text);
    if (fault !== null) context.addIssue(fault);
  });
/** Normalised like in the API: in any case, each once. */
export const DOMAINS = z.array(DOMAIN).overwrite((domains) => [...new Set(domains)]);

/** Uses the parser that later applies the range, strictly, because it alone also accepts `10.1/16` and octal parts. */
function isCidr(text: string): boolean {
  if (!text.includes(":")) return ipaddr.IPv4.isValidCIDRFourPartDecimal(text);
  return !text.includes("%") && ipaddr.IPv6.isValidCIDR(text);
}
