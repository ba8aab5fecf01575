// The billing class of an attempt [metering.billing-class]: the app pays a Patchbay price, the owner of the provider account pays, or it is
// simulated.
export const BILLING_CLASSES = ["metered", "provider_billed", "simulated"] as const;
export type BillingClass = (typeof BILLING_CLASSES)[number];
