// Forms to change a provider account: its credential, its address and timeout, and its removal.
import type { ConnectionView } from "../contract/admin/connections.ts";
import { element } from "../page/element.ts";
import { CONNECTION_KINDS, connectionPath, fieldsOf } from "./connection-kinds.ts";
import { formView } from "./form-view.ts";
import { actionView } from "./action-view.ts";
import { isOfFile } from "./owner-view.ts";
import type { Visit } from "./visit.ts";
import { REPLACE_CREDENTIAL } from "./connection-test-view.ts";
import { part } from "./words.ts";

/** None for connections of the configuration file. */
export function changeViews(visit: Visit, connection: ConnectionView, etag: string | null): readonly Node[] {
  if (isOfFile(connection)) return [];
  return [
    ...(CONNECTION_KINDS[connection.kind].credential === null ? [] : [credentialPart(visit, connection, etag)]),
    settingsPart(visit, connection, etag),
    removalPart(visit, connection, etag),
  ];
}

function testAgain(visit: Visit, { id }: ConnectionView, message: string): void {
  visit.say(message);
  visit.go(visit.link("connections", [id], { test: "now" }));
}

function credentialPart(visit: Visit, connection: ConnectionView, etag: string | null): Node {
  const { credential } = CONNECTION_KINDS[connection.kind];
  const label = credential?.label ?? "Credential";
  const hint = credential?.isRequired === true ? credential.hint : "";
  const replacing = part(
    "Replace credential",
    element(
      "p",
      {},
      "The new credential is used from the next call on and tested immediately. The previous one is deleted.",
    ),
    formView<ConnectionView>({
      fields: [{ kind: "password", name: "api_key", label, hint, isRequired: true }],
      submit: "Replace and test",
      send: (body) => visit.ask("POST", `${connectionPath(connection.id)}/credential`, { body, ifMatch: etag }),
      done: () => testAgain(visit, connection, "The credential was replaced."),
    }),
  );
  replacing.id = REPLACE_CREDENTIAL;
  return replacing;
}

function settingsPart(visit: Visit, connection: ConnectionView, etag: string | null): Node {
  const { kind, models, base_url, region, data_policy } = connection;
  // Fields that the form does not offer are preserved.
  const always = { kind, models, region, data_policy };
  const preserved = CONNECTION_KINDS[kind].address === null ? { ...always, base_url } : always;
  return part(
    "Edit",
    formView<ConnectionView>({
      fields: fieldsOf(kind, connection),
      submit: "Save and test",
      send: (body) =>
        visit.ask("PUT", connectionPath(connection.id), { ifMatch: etag, body: { ...preserved, ...body } }),
      again: () => visit.redraw(),
      done: () => testAgain(visit, connection, "The connection was changed."),
    }),
  );
}

function removalPart(visit: Visit, connection: ConnectionView, etag: string | null): Node {
  const { id } = connection;
  const remove = actionView({
    label: "Remove connection",
    title: `Remove ${id}?`,
    what: lossOf(visit),
    run: () => visit.ask("DELETE", connectionPath(connection.id), { ifMatch: etag }),
    done: () => {
      visit.say(`${id} was removed.`);
      visit.go(visit.link("connections"));
    },
    again: () => visit.redraw(),
  });
  return part(
    "Remove",
    element("p", {}, "A connection that a published route uses cannot be removed. Remove it from the route first."),
    remove,
  );
}

const lossOf = ({ scope }: Visit): string =>
  `Its credential is deleted, and it is not called any more${
    scope.workspace === null ? "" : "; a shared connection with the same name then serves this workspace"
  }. Waiting jobs use the other targets of their route. This cannot be undone. Past requests and usage are kept.`;
