// One sentence about a retirement, for API, console, CLI, `doctor` and alerts [retirement.message]. Pure.
import { daysUntil } from "../../providers/life-status.ts";
import type { Target } from "../../routing/types.ts";
import { LANGUAGE, type RouteLoss } from "./find-losses.ts";
import { CHAT, OTHER_LANGUAGES, TRANSCRIPTION, UNSPECIFIED } from "./probes.ts";
import { redirectOf } from "./route-on-day.ts";

type Described = Pick<RouteLoss, "kind" | "date" | "evidence" | "feature" | "languages" | "targets"> & {
  readonly route: { readonly id: string };
  readonly dataPolicy: string | null;
};

export function retirementText(retirement: Described, nowMs: number): string {
  const { kind, date, evidence, route, targets } = retirement;
  const isPast = daysUntil(date, nowMs) <= 0;
  const note = evidence === "vendor" ? "" : " The date is second-hand: the provider has not confirmed it.";
  if (kind === "redirect") {
    const answered = targets.map(
      (target) => `\`${nameOf(target)}\` by \`${redirectOf(target)?.model ?? "another model"}\``,
    );
    return `${isPast ? "Since" : "From"} ${date} another model answers targets of route \`${route.id}\`: ${answered.join(", ")}.${note}`;
  }
  const lost = isPast ? `Since ${date} route \`${route.id}\` cannot` : `On ${date} route \`${route.id}\` can no longer`;
  return `${lost} ${abilityText(retirement)}${policyText(retirement)}: ${reasonText(targets, date, isPast)}.${note}`;
}

function abilityText({ feature, languages }: Described): string {
  if (feature === CHAT) return "chat";
  const within = languages === null ? "" : ` ${languagesText(languages)}`;
  return feature === TRANSCRIPTION || feature === LANGUAGE ? `transcribe${within}` : `deliver ${feature}${within}`;
}

function policyText({ dataPolicy }: Described): string {
  return dataPolicy === null ? "" : ` with the data policy ${dataPolicy.replaceAll(",", ", ")}`;
}

const MOST_LANGUAGES = 10;

function languagesText(languages: readonly string[]): string {
  const listed = languages.filter((language) => language !== UNSPECIFIED && language !== OTHER_LANGUAGES);
  const more = listed.length > MOST_LANGUAGES ? ` and ${listed.length - MOST_LANGUAGES} more` : "";
  const texts = [
    ...(listed.length === 0 ? [] : [`in ${listed.slice(0, MOST_LANGUAGES).join(", ")}${more}`]),
    ...(languages.includes(OTHER_LANGUAGES) ? ["in languages that no other target names"] : []),
    ...(languages.includes(UNSPECIFIED) ? ["without a language in the request"] : []),
  ];
  return texts.join(", or ");
}

function reasonText(targets: readonly Target[], date: string, isPast: boolean): string {
  const names = targets.map((target) => `\`${nameOf(target)}\``);
  const [only] = targets;
  if (targets.length === 1 && only !== undefined) {
    const redirect = redirectOf(only);
    const end = isPast ? "has ended" : "ends";
    return `its last capable target ${names.join("")} ${redirect?.date === date ? `is answered by \`${redirect.model}\`` : end}`;
  }
  return `its last capable targets ${names.join(", ")} ${isPast ? "have ended" : "end"} or are answered by other models`;
}

function nameOf({ connection, model }: Target): string {
  return `${connection}/${model}`;
}
