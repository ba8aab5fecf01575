// "Check a URL": applies each rule for fetching recordings to one address, without a fetch.
import type { AudioUrlCheck } from "../contract/admin/audio-url-check.ts";
import { element } from "../page/element.ts";
import { formView } from "./form-view.ts";
import type { Visit } from "./visit.ts";
import { mark, part, type Tone } from "./words.ts";

type Rule = AudioUrlCheck["rules"][number];

export function audioUrlCheckPart(visit: Visit): HTMLElement {
  const result = element("div", { role: "status" });
  const form = formView<AudioUrlCheck>({
    fields: [
      {
        kind: "text",
        name: "url",
        label: "Audio URL",
        isRequired: true,
        placeholder: "https://media.example.com/call.wav",
        hint: "The URL, as sent by an app. Checked against the saved list. Nothing is fetched or stored.",
      },
    ],
    submit: "Check",
    send: (body) => {
      result.replaceChildren();
      return visit.ask("POST", "/audio-url-domains/check", { body });
    },
    done: (check) => result.replaceChildren(...resultOf(check)),
  });
  return part("Check a URL", form, result);
}

function resultOf({ allowed, host, listed, rules, addresses = [] }: AudioUrlCheck): readonly Node[] {
  const verdict = allowed
    ? mark("good", "It would be fetched, if the server responds with a length and a supported type.")
    : mark("bad", "A request with this URL is rejected.");
  return [
    element("p", {}, verdict),
    element("ul", { class: "changes" }, ...rules.map((rule) => element("li", {}, ...ruleView(rule, listed)))),
    ...(addresses.length === 0
      ? []
      : [element("p", { class: "soft" }, `${host ?? ""} resolves to ${addresses.join(", ")}.`)]),
  ];
}

const OUTCOMES: Readonly<Record<Rule["outcome"], readonly [tone: Tone, words: string]>> = {
  met: ["good", "holds: "],
  broken: ["bad", "broken: "],
  not_judged: ["soft", "not checked: "],
};

function ruleView({ rule, outcome, text, message, detail }: Rule, listed: AudioUrlCheck["listed"]): readonly Node[] {
  const [tone, words] = OUTCOMES[outcome];
  const found =
    rule === "listed" && listed !== null ? [" As ", element("code", {}, listed.entry), listName(listed)] : [];
  return [
    element("div", {}, mark(tone, words), text, ...found),
    ...(message === null ? [] : [element("div", { class: "soft" }, message)]),
    ...(detail === undefined || detail === null ? [] : [element("div", { class: "soft" }, `Found: ${detail}.`)]),
  ];
}

const listName = ({ owner }: NonNullable<AudioUrlCheck["listed"]>): string =>
  owner === "workspace" ? ", of this workspace." : ", of the operator's.";
