// The sandbox's clock in tests: a fixed day, so that no test fails when a provider ends a model that it uses.
export const SANDBOX_CLOCK = { nowMs: () => Date.parse("2026-11-26T12:00:00Z") };
