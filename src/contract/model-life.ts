// Schema of what is known of a model's life: status, evidence, end, and successors with what they lack [providers.model-status].
import { z } from "zod";

export const MODEL_STATUSES = ["current", "deprecated", "ending", "retired"] as const;

const day = z.string().describe("UTC day, as `2027-02-26`.");
const evidence = z
  .enum(["vendor", "second_hand"])
  .describe(
    "`vendor`: the provider's own page or API. `second_hand`: another source, which makes no target ineligible.",
  );

export const modelLife = z.strictObject({
  status: z
    .enum(MODEL_STATUSES)
    .describe(
      "`deprecated`: its provider advises against it or answers its name by another model. `retired`: it has ended.",
    ),
  days_left: z.int().min(1).nullable().describe("Days until it ends. Null unless the status is `ending`."),
  verified_on: day.describe("Day of the newest evidence for the facts of the model."),
  source: z.string().describe("A page of the provider, its API, or a package with its version."),
  deprecated_on: day.nullable(),
  ends_on: z
    .strictObject({ date: day.describe("First UTC day of refusal."), evidence, source: z.string() })
    .nullable()
    .describe("Null: no end is announced."),
  redirect: z
    .strictObject({ date: day, evidence, source: z.string(), model: z.string() })
    .nullable()
    .describe("From this day on its provider answers its name by another model."),
  replaced_by: z
    .array(z.strictObject({ model: z.string(), lacks: z.array(z.string()).describe("Features that it lacks.") }))
    .describe("Successors, the closest first."),
});
export type ModelLifeView = z.infer<typeof modelLife>;

/** For lists of models. */
export const knownLife = modelLife.nullable().describe("Null: unknown, as for declared models and the sandbox.");

export const modelNotOffered = z.strictObject({
  since: z.string().describe("The day on which it was decided."),
  reason: z.string(),
});
export const notOffered = modelNotOffered
  .nullable()
  .describe(
    "Of a model that is known and cannot be called, because no adapter speaks its protocol. `life` has the evidence.",
  );
export type NotOfferedView = z.infer<typeof notOffered>;
