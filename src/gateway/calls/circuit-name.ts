// Names the circuit breaker of a target: one per model and account, and separate ones for test keys, so that the sandbox's failures do not affect the
// account.
import type { Target } from "../../routing/types.ts";

/** Prefix of the circuits of test keys: the sandbox's simulated failures must not affect the account. */
export const TEST_CIRCUITS = "test/";

/** The name of a circuit: one per model and account, so that one tenant's invalid key does not make a provider unavailable for another. */
export function circuitOf(target: Target, testMode: boolean): string {
  const cachedNames = circuitNames.get(target);
  if (cachedNames !== undefined) return testMode ? cachedNames.test : cachedNames.live;
  const live = `${target.account}/${target.model}`;
  const names = { live, test: TEST_CIRCUITS + live };
  circuitNames.set(target, names);
  return testMode ? names.test : names.live;
}

/** Cached per target, which lives as long as its route version: a name created for each look-up would be hashed each time. */
const circuitNames = new WeakMap<Target, { readonly live: string; readonly test: string }>();
