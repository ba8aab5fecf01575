// The form field and the text of a data policy, of an app, a purpose or a route.
import type { DataPolicyRequirement, DataPolicyStatement } from "../contract/settings/data-policy.ts";
import type { Field } from "./form-view.ts";

export function dataPolicyField(name: string, value: unknown): Field {
  return {
    kind: "json",
    name,
    label: "Data policy",
    hint: "What providers must guarantee about the data. Targets without proof are skipped.",
    placeholder: '{"training": "never", "retention": "none", "regions": ["eu"]}',
    ...(value === null || value === undefined ? {} : { value: JSON.stringify(value, null, 2) }),
  };
}

export function dataPolicyText(policy: DataPolicyRequirement | DataPolicyStatement | null): string {
  const { training, retention, regions } = policy ?? {};
  const days = typeof retention === "number" ? `at most ${retention} days` : retention;
  const words = [
    ...(training == null ? [] : [`training: ${training}`]),
    ...(days == null ? [] : [`retention: ${days}`]),
    ...(regions == null ? [] : [`regions: ${regions.join(", ")}`]),
  ];
  return words.length === 0 ? "none" : words.join("; ");
}
