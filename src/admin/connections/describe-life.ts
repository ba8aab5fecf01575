// Describes the life of a model for the API: its status at a time, evidence and successors [providers.model-status]. Pure.
import type { ModelLifeView } from "../../contract/model-life.ts";
import type { AccountModel } from "../../directory/models-of.ts";
import { lifeStatus } from "../../providers/life-status.ts";
import type { ModelEnd, ModelLife, ModelSuccessor } from "../../providers/model-life.ts";

/** Null: nothing is known of it. */
export function describeLife(model: Pick<AccountModel, "speech" | "chat">, nowMs: number): ModelLifeView | null {
  const life = lifeOfBoth(model);
  if (life === undefined) return null;
  const { verifiedOn, source, deprecatedOn = null, endsOn, redirect, replacedBy = [] } = life;
  const status = lifeStatus(life, nowMs);
  const endView = (end: ModelEnd) => ({ date: end.date, evidence: end.evidence, source: end.source ?? source });
  return {
    status: status.status,
    days_left: status.status === "ending" ? status.daysLeft : null,
    verified_on: verifiedOn,
    source,
    deprecated_on: deprecatedOn,
    ends_on: endsOn === undefined ? null : endView(endsOn),
    redirect: redirect === undefined ? null : { ...endView(redirect), model: redirect.model },
    replaced_by: replacedBy.map((successor) => ({ model: successor.model, lacks: [...successor.lacks] })),
  };
}

/** A model for both kinds of work has one life, and successors that may do only one of them. */
function lifeOfBoth({ speech, chat }: Pick<AccountModel, "speech" | "chat">): ModelLife | undefined {
  if (speech?.life === undefined || chat?.life === undefined) return speech?.life ?? chat?.life;
  const [audio, text] = [speech.life.replacedBy ?? [], chat.life.replacedBy ?? []];
  const lacksOf = (among: readonly ModelSuccessor[], model: string, capability: string): readonly string[] =>
    among.find((each) => each.model === model)?.lacks ?? [capability];
  const names = [...new Set([...text, ...audio].map(({ model }) => model))];
  return {
    ...chat.life,
    replacedBy: names.map((model) => ({
      model,
      lacks: [...new Set([...lacksOf(audio, model, "audio_input"), ...lacksOf(text, model, "chat")])],
    })),
  };
}
