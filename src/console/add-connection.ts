// Creates a provider account: choose its kind, fill in its fields, and open its page, where it is tested at once.
import type { ConnectionView } from "../contract/admin/connections.ts";
import type { ProviderKind } from "../contract/provider-kinds.ts";
import { element } from "../page/element.ts";
import { CONNECTION_KINDS, fieldsOf } from "./connection-kinds.ts";
import { formView } from "./form-view.ts";
import type { Visit } from "./visit.ts";
import { link, part } from "./words.ts";

export async function chooseKind(visit: Visit): Promise<readonly Node[]> {
  const kinds = Object.entries(CONNECTION_KINDS).map(([kind, { title, says }]) => [
    element("dt", {}, link(visit.link("connections", ["add", kind]), title)),
    element("dd", {}, says),
  ]);
  return [
    link(visit.link("connections"), "All connections"),
    part("Provider", element("dl", { class: "facts-list" }, ...kinds.flat())),
  ];
}

export async function addConnection(visit: Visit, kind: ProviderKind): Promise<readonly Node[]> {
  const { title, says, credential } = CONNECTION_KINDS[kind];
  const form = formView<ConnectionView>({
    fields: fieldsOf(kind),
    submit: "Connect and test",
    send: (body) => visit.ask("POST", "/connections", { body: { kind, ...body } }),
    done: ({ id }) => {
      visit.say(`${id} is connected.`);
      visit.go(visit.link("connections", [id], { test: "now" }));
    },
  });
  const sealed = "The credential is encrypted. Only its last four characters are shown again.";
  return [
    link(visit.link("connections", ["add", "provider"]), "Another provider"),
    part(title, element("p", {}, credential === null ? says : `${says} ${sealed}`), form),
  ];
}
