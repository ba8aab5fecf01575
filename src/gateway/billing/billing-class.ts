// Decides who pays for an attempt: no one for a simulated call, the app on a shared account with a price, otherwise the owner of the account.
import type { Principal } from "../../auth/principal.ts";
import type { BillingClass } from "../../contract/billing-class.ts";
import type { Price } from "../../metering/price.ts";
import type { Target } from "../../routing/types.ts";

export function billingClassOf(
  { testMode }: Pick<Principal, "testMode">,
  { ownership }: Pick<Target, "ownership">,
  price: Price | null,
): BillingClass {
  if (testMode || ownership === "simulated") return "simulated";
  return ownership === "platform" && price !== null ? "metered" : "provider_billed";
}
