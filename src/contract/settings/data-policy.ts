// Schemas of the data policy [data-policy.requirement]: what a route, purpose, app or request requires of a provider, and what the owner of an account states
// about it.
import { z } from "zod";

export const DATA_POLICY_ASPECTS = ["training", "retention", "regions"] as const;
export type DataPolicyAspect = (typeof DATA_POLICY_ASPECTS)[number];

/** What a target without proof of an aspect lacks. */
export type DataPolicyLack = `data_policy.${DataPolicyAspect}`;

const REGIONS = z
  .array(z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "a region such as eu or us"))
  .min(1)
  .max(20);
const DAYS = z.int().min(1).max(3_650);

export const dataPolicyRequirement = z.strictObject({
  training: z.literal("never").describe("The provider must not train models with the data.").nullish(),
  retention: z
    .union([z.enum(["none", "deletable"]), DAYS])
    .describe(
      "`none`: the provider keeps nothing. `deletable`: or the gateway can delete it. A number: or it is kept for at most that many days.",
    )
    .nullish(),
  regions: REGIONS.describe("Regions outside of which no data may be processed.").nullish(),
});
export type DataPolicyRequirement = z.infer<typeof dataPolicyRequirement>;

/** An agreement with the provider that no request can prove. */
export const dataPolicyStatement = z.strictObject({
  training: z.literal("never").describe("The provider agreed not to train models with this account's data.").nullish(),
  retention: z
    .union([z.literal("none"), DAYS])
    .describe("How long the provider agreed to keep this account's data: `none`, or days.")
    .nullish(),
  regions: REGIONS.describe("Where the provider agreed to process this account's data.").nullish(),
});
export type DataPolicyStatement = z.infer<typeof dataPolicyStatement>;
