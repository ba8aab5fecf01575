// Who pays an attempt (contract 9): the app by a Patchbay price, the owner of the provider account, or nobody.
export const BILLING_CLASSES = ["metered", "provider_billed", "simulated"] as const;
export type BillingClass = (typeof BILLING_CLASSES)[number];
