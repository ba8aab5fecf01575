// What tests of the way out have in common: one of which everything comes soon, and the error that an exchange ended with.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createOutbound, type Outbound, OutboundError } from "../../src/outbound/dial.ts";
import { impatient } from "./soon.ts";

/** It ends with the test. */
export function outboundFor(t: TestContext, options?: Parameters<typeof createOutbound>[0]): Outbound {
  const outbound = impatient(createOutbound(options));
  t.after(() => outbound.destroy());
  return outbound;
}

export async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
}

export async function failureOf(work: Promise<unknown>): Promise<OutboundError> {
  const error = await thrownBy(work);
  assert.ok(error instanceof OutboundError, String(error));
  return error;
}
