// Reclaims money that idle leases hold, and retries a transaction that was rolled back for lack of it [jobs.reservation].
import { exceededIn } from "../../gateway/billing/budget-exceeded.ts";
import type { AppOf } from "../../metering/store/budgets.ts";
import type { JobServices } from "../services.ts";

export async function retryAfterReclaim<T>(
  { gateway }: { readonly gateway: Pick<JobServices["gateway"], "leases"> },
  payer: AppOf,
  work: () => Promise<T>,
): Promise<T> {
  const result = await gateway.leases.reclaimer.reserve(payer, async () => {
    try {
      return { ok: true, value: await work() } as const;
    } catch (error) {
      const exceeded = exceededIn(error);
      if (exceeded === null) throw error;
      return { ok: false, exceeded, error } as const;
    }
  });
  if (!result.ok) throw result.error;
  return result.value;
}
